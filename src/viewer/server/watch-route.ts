import type { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { BenchError } from '../../base/bench-error.ts';
import { dataVersion } from '../../store/data-version.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { runNamed } from '../find-run.ts';
import type { HiddenTexts } from '../hidden-texts.ts';
import { RunObserver } from '../watch/run-observer.ts';
import { RunWatch, RunWatches, type WatchOptions } from '../watch/run-watches.ts';
import { watchedParts } from '../watch/watch-page.ts';
import { addressValues, valuesOf } from './address-values.ts';
import type { ServerEnvironment } from './guards.ts';
import { serverLinks } from './server-links.ts';

/** Pages that are open at one time: a browser holds some six connections to one server. */
const mostFollowers = 16;
/** Time after which a browser connects again, ms. */
const retryMs = 3000;
const pace: Pick<WatchOptions, 'pauseMs' | 'beatMs'> = { pauseMs: 1000, beatMs: 15_000 };

/** Options of the stream of a run's states. */
export interface WatchRouteOptions {
  readonly database: BenchDatabase;
  readonly hiddenTexts: HiddenTexts | undefined;
  /** Called with errors that are bugs. */
  readonly onBug: (error: Error) => void;
}

/** Routes the server-sent events of a run: `state` with the part of the page that has changed, `end` after the last. */
export function routeWatch(app: Hono<ServerEnvironment>, { database, hiddenTexts, onBug }: WatchRouteOptions): void {
  const watches = new RunWatches((run) => {
    const observer = new RunObserver(database, run, hiddenTexts);
    const read = async () => {
      const state = observer.read();
      const html = await watchedParts(state, serverLinks);
      return { html: html.toString(), ended: state.status !== 'running' };
    };
    return new RunWatch({ ...pace, version: () => dataVersion(database), read });
  }, mostFollowers);

  app.get('/watch/events', (context) => {
    const { run } = valuesOf(addressValues.run, new URL(context.req.url).searchParams);
    if (watches.isFull) {
      return context.text(`${mostFollowers} pages watch runs: close some of them, and reload this one.\n`, 503);
    }
    // Of a run that there is not the response is a page, after which a browser asks no more.
    runNamed(database, run);
    const closed = new AbortController();
    context.env.outgoing.on('close', () => closed.abort());
    const response = streamSSE(context, async (stream) => {
      try {
        await send(stream, watches, run, closed.signal);
      } catch (error) {
        if (closed.signal.aborted) return;
        if (!(error instanceof BenchError)) onBug(error as Error);
      }
    });
    response.headers.set('cache-control', 'no-store');
    return response;
  });
}

/** Sends the states of a run until it has ended, or nobody listens any more. */
async function send(stream: SSEStreamingApi, watches: RunWatches, run: string, signal: AbortSignal): Promise<void> {
  for await (const state of watches.follow(run, signal)) {
    if (state === undefined) await stream.write(': nothing new\n\n');
    else await stream.writeSSE({ event: state.ended ? 'end' : 'state', data: state.html, retry: retryMs });
  }
}
