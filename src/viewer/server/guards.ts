import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';

/** Node's own objects of a request. */
export interface ServerEnvironment {
  readonly Bindings: HttpBindings;
}

/** Names of this machine to which the server answers. */
const hosts = ['127.0.0.1', 'localhost'];

const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Keeps texts of users out of the caches of browsers.
  'cache-control': 'no-store',
};

/** The port that browsers leave out of the host. */
const WEB_PORT = 80;

const addressed = (host: string, { env }: Context<ServerEnvironment>): boolean => {
  const port = env.incoming.socket.localPort ?? 0;
  return hosts.some((name) => host === `${name}:${port}` || (port === WEB_PORT && host === name));
};

/**
 * Refuses requests to any other host name, which DNS rebinding would send here, and requests that change something unless
 * they come from a page of this server. Adds the security headers to every response.
 */
export const guard: MiddlewareHandler<ServerEnvironment> = async (context, next) => {
  const { method, raw } = context.req;
  const host = raw.headers.get('host') ?? '';
  const origin = raw.headers.get('origin');
  const reading = method === 'GET' || method === 'HEAD';
  if (!addressed(host, context)) {
    context.res = new Response('This server answers to 127.0.0.1 and localhost only.\n', { status: 403 });
  } else if (!reading && origin !== `http://${host}`) {
    context.res = new Response('Only pages of this server may ask for this.\n', { status: 403 });
  } else {
    await next();
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!context.res.headers.has(name)) context.res.headers.set(name, value);
  }
};
