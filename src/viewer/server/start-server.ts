import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { BenchError } from '../../base/bench-error.ts';
import type { inspectApp } from './inspect-app.ts';

const address = '127.0.0.1';

/** The viewer while it runs. */
export interface InspectServer {
  readonly url: string;
  readonly port: number;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

/**
 * Serves the viewer on 127.0.0.1 alone.
 * @param port 0 for a free one
 * @throws BenchError `port` if another program has it
 */
export async function startServer(app: ReturnType<typeof inspectApp>, port: number): Promise<InspectServer> {
  const server = serve({ fetch: app.fetch, hostname: address, port }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE' || error.code === 'EACCES'
          ? new BenchError(
              'port',
              `port ${port} is not available: ${error.code}`,
              'choose another with --port N, or a free one with --port 0',
              error,
            )
          : error,
      );
    });
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://${address}:${taken}/`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
