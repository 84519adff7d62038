import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { BenchError } from '../../../base/bench-error.ts';
import type { NodeEvent, NodeEventStream } from './memory-retrieval-processor.ts';

const HOST = '127.0.0.1';
const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
/** A client with more unread bytes is disconnected, so that no turn waits for it. */
const MAX_UNREAD_BYTES = 2 ** 20;
const CLOSING_MS = 500;

/** Sends the events of workflow nodes to connected local WebSocket clients, as one JSON document per message. */
export class NodeEventServer implements NodeEventStream {
  readonly #http: Server;
  readonly #server: WebSocketServer;

  private constructor() {
    this.#http = createServer((_, response) => response.writeHead(426, { upgrade: 'websocket' }).end());
    // Refuse pages of other origins in a local browser.
    const verifyClient = ({ origin }: { readonly origin?: string }): boolean =>
      origin === undefined || LOCAL_ORIGIN.test(origin);
    this.#server = new WebSocketServer({ server: this.#http, maxPayload: 2 ** 10, verifyClient });
    // `open` reports the error of the HTTP server.
    this.#server.on('error', () => undefined);
    this.#server.on('connection', (client: WebSocket) => client.on('error', () => client.terminate()));
  }

  /** Opens the server. @param port 0 for any free port @throws BenchError `port` if it cannot be opened */
  static async open(port: number): Promise<NodeEventServer> {
    const server = new NodeEventServer();
    try {
      server.#http.listen(port, HOST);
      await once(server.#http, 'listening');
    } catch (error) {
      const message = `${HOST}:${port} cannot be opened: ${(error as Error).message}`;
      throw new BenchError('port', message, 'open it on another port', error);
    }
    return server;
  }

  get url(): string {
    return `ws://${HOST}:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Sends an event to all clients; one with more than a MiB unread is disconnected. */
  send(event: NodeEvent): void {
    const message = JSON.stringify(event);
    for (const client of this.#server.clients) {
      if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate();
      else if (client.readyState === client.OPEN) client.send(message);
    }
  }

  /** Says goodbye to the clients, and closes every connection within half a second. */
  async close(): Promise<void> {
    for (const client of this.#server.clients) client.close(1001);
    this.#server.close();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    // Destroy connections that clients do not close, or that never became clients.
    const timer = setTimeout(() => {
      for (const client of this.#server.clients) client.terminate();
      this.#http.closeAllConnections();
    }, CLOSING_MS);
    await closed;
    clearTimeout(timer);
  }
}
