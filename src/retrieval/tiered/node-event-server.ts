import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { BenchError } from '../../config/bench-error.ts';
import type { NodeEvent, NodeEventStream } from './node-events.ts';

const HOST = '127.0.0.1';
const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
/** A client with more unread bytes is disconnected, so that no turn waits for it. */
const MAX_UNREAD_BYTES = 2 ** 20;

/** Serves the events of nodes to local WebSocket clients: one JSON document a message, from the time of connection on. */
export class NodeEventServer implements NodeEventStream {
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
  }

  /** Opens the server. @param port 0 for any free port @throws BenchError `port` if it cannot be opened */
  static async open(port: number): Promise<NodeEventServer> {
    const server = new WebSocketServer({
      host: HOST,
      port,
      maxPayload: 2 ** 10,
      // Pages of other origins in a local browser are refused.
      verifyClient: ({ origin }: { readonly origin?: string }) => origin === undefined || LOCAL_ORIGIN.test(origin),
    });
    try {
      await once(server, 'listening');
    } catch (error) {
      const message = `${HOST}:${port} cannot be opened: ${(error as Error).message}`;
      throw new BenchError('port', message, 'give another --events-port', error);
    }
    server.on('connection', (client: WebSocket) => client.on('error', () => client.terminate()));
    return new NodeEventServer(server);
  }

  get url(): string {
    return `ws://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  send(event: NodeEvent): void {
    const message = JSON.stringify(event);
    for (const client of this.#server.clients) {
      if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate();
      else if (client.readyState === client.OPEN) client.send(message);
    }
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.close(1001);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // Clients that do not close the connection.
    const timer = setTimeout(() => this.#server.clients.forEach((client) => client.terminate()), 500);
    await closed;
    clearTimeout(timer);
  }
}
