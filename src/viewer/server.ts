import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpBindings, serve } from '@hono/node-server';
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { BenchError } from '../base/bench-error.ts';

const address = '127.0.0.1';

export interface ServerEnvironment {
  readonly Bindings: HttpBindings;
}

const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Keeps texts of users out of browser caches.
  'cache-control': 'no-store',
};

const WEB_PORT = 80;

function isOwnHost(host: string, { env }: Context<ServerEnvironment>): boolean {
  const port = env.incoming.socket.localPort ?? 0;
  return [address, 'localhost'].some((name) => host === `${name}:${port}` || (port === WEB_PORT && host === name));
}

/** Refuses other host names (DNS rebinding) and methods other than GET and HEAD; adds security headers. */
export const guard: MiddlewareHandler<ServerEnvironment> = async (context, next) => {
  const { method, raw } = context.req;
  if (!isOwnHost(raw.headers.get('host') ?? '', context)) {
    context.res = new Response('This server answers only to 127.0.0.1 and localhost.\n', { status: 403 });
  } else if (method !== 'GET' && method !== 'HEAD') {
    context.res = new Response('This server only shows pages.\n', { status: 405 });
  } else {
    await next();
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!context.res.headers.has(name)) context.res.headers.set(name, value);
  }
};

export type InspectServer = Awaited<ReturnType<typeof startServer>>;

/** Serves the viewer on 127.0.0.1. @param port 0 for any free port @throws BenchError `port` if it is not available */
export async function startServer(app: Hono<ServerEnvironment>, port: number) {
  const server = serve({ fetch: app.fetch, hostname: address, port }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', (error: NodeJS.ErrnoException) => {
      const message = `port ${port} is not available: ${error.code}`;
      const hint = 'choose another with --port N, or a free one with --port 0';
      const isTaken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      reject(isTaken ? new BenchError('port', message, hint, error) : error);
    });
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://${address}:${taken}/`,
    port: taken,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
