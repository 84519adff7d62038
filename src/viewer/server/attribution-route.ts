import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { stream } from 'hono/streaming';
import { BenchError } from '../../base/bench-error.ts';
import type { Html } from '../../render/html-table.ts';
import { type AttributionNews, newsType } from '../attribution/attribution-news.ts';
import type { AttributionPort } from '../attribution/attribution-port.ts';
import type { TurnRef } from '../links.ts';
import { addressValues, turnRefOf, valuesOf } from './address-values.ts';
import { failureOf } from './error-page.ts';
import type { ServerEnvironment } from './guards.ts';
import { serverLinks } from './server-links.ts';

const mostBytes = 16 * 1024;

/** Makes the secret that the pages of this process carry, so that no other page can send their form. */
export const newToken = (): string => randomBytes(24).toString('base64url');

function requireToken(given: string, token: string): void {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  if (a.length === b.length && timingSafeEqual(a, b)) return;
  throw new BenchError('bad-option', 'token is of another process', 'open the turn again: the viewer was restarted');
}

/** The form that starts an attribution; the script of the page replaces it by a button that shows progress. */
export function attributionForm(turn: TurnRef, token: string): Html {
  const values = { ...turn, token };
  return html`<section id="attribution" aria-labelledby="attribution-heading">
    <h3 id="attribution-heading">Leave-one-out attribution</h3>
    <p>
      Loads the model and evaluates the answer once with all memories and once without each. The result is stored beside
      the turn.
    </p>
    <form method="post" action="/attribution" data-attribution>
      ${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      <button>Compute leave-one-out attribution</button>
    </form>
  </section>`;
}

/** Routes the form: the script of a page gets progress; without it, the answer is a redirection to the turn. */
export function routeAttribution(app: Hono<ServerEnvironment>, port: AttributionPort, token: string): void {
  app.post(
    '/attribution',
    bodyLimit({ maxSize: mostBytes, onError: (context) => context.text('The form is too long.\n', 413) }),
    async (context) => {
      const values = valuesOf(addressValues.attribution, new URLSearchParams(await context.req.text()));
      requireToken(values.token, token);
      const turn = turnRefOf(values);
      const controller = new AbortController();
      // A closed connection cancels the computation.
      context.env.outgoing.on('close', () => controller.abort());
      if (context.req.header('accept') === newsType) {
        return news(context, (tell) =>
          port.compute(turn, (done, of) => tell({ state: 'computing', done, of }), controller.signal),
        );
      }
      await port.compute(turn, () => undefined, controller.signal);
      return context.redirect(serverLinks.turn(turn), 303);
    },
  );
}

function news(
  context: Context<ServerEnvironment>,
  work: (tell: (news: AttributionNews) => void) => Promise<unknown>,
): Response {
  context.header('content-type', newsType);
  return stream(context, async (out) => {
    let written: Promise<unknown> = Promise.resolve();
    const tell = (line: AttributionNews): void => {
      written = written.then(() => out.writeln(JSON.stringify(line)));
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
