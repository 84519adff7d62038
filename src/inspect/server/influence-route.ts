import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { stream } from 'hono/streaming';
import { BenchError } from '../../config/bench-error.ts';
import { type InfluenceNews, newsType } from '../influence/influence-news.ts';
import type { InfluencePort } from '../influence-port.ts';
import { addressValues, turnRefOf, valuesOf } from './address-values.ts';
import { failureOf } from './error-page.ts';
import type { ServerEnvironment } from './guards.ts';
import { serverLinks } from './server-links.ts';

const mostBytes = 16 * 1024;

/** A secret that pages of this process carry, so that no other page can ask in their name. */
export const newToken = (): string => randomBytes(24).toString('base64url');

function requireToken(given: string, token: string): void {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  if (a.length === b.length && timingSafeEqual(a, b)) return;
  throw new BenchError('bad-option', 'token is of another process', 'open the turn again: the viewer was started anew');
}

/** Computes influences where a form asks for it: with progress for the script, else at once and back to the turn. */
export function routeInfluence(app: Hono<ServerEnvironment>, port: InfluencePort, token: string): void {
  app.post(
    '/influence',
    bodyLimit({ maxSize: mostBytes, onError: (context) => context.text('The form is too long.\n', 413) }),
    async (context) => {
      const values = valuesOf(addressValues.influence, new URLSearchParams(await context.req.text()));
      requireToken(values.token, token);
      const turn = turnRefOf(values);
      const controller = new AbortController();
      // Whoever has left waits for nothing.
      context.env.outgoing.on('close', () => controller.abort());
      if (context.req.header('accept') === newsType) {
        return news(context, (told) =>
          port.compute(turn, (done, of) => told({ state: 'computing', done, of }), controller.signal),
        );
      }
      await port.compute(turn, () => undefined, controller.signal);
      return context.redirect(serverLinks.turn(turn), 303);
    },
  );
}

function news(
  context: Context<ServerEnvironment>,
  work: (tell: (news: InfluenceNews) => void) => Promise<unknown>,
): Response {
  context.header('content-type', newsType);
  return stream(context, async (out) => {
    let written: Promise<unknown> = Promise.resolve();
    const tell = (told: InfluenceNews): void => {
      written = written.then(() => out.writeln(JSON.stringify(told)));
    };
    try {
      await work(tell);
      tell({ state: 'done' });
    } catch (error) {
      const { message, hint } = failureOf(error instanceof Error ? error : new Error(String(error)));
      tell({ state: 'failed', message, hint });
    }
    await written;
  });
}
