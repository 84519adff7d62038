import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { BenchError } from '../../config/bench-error.ts';
import type { inspectApp } from './inspect-app.ts';

const address = '127.0.0.1';

/** The viewer while it runs. */
export interface InspectServer {
  readonly url: string;
  readonly port: number;
  /** Ends what goes on and listens no more. */
  close(): Promise<void>;
}

/**
 * Serves the viewer on this machine alone.
 * @param port 0 for one that is free
 * @throws BenchError `port` where another program has it
 */
export async function startServer(app: ReturnType<typeof inspectApp>, port: number): Promise<InspectServer> {
  const server = serve({ fetch: app.fetch, hostname: address, port }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE' || error.code === 'EACCES'
          ? new BenchError(
              'port',
              `port ${port} cannot be had: ${error.code}`,
              'take another by --port N, or a free one by --port 0',
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
