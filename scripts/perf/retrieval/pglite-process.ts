/** Runs PostgreSQL in WebAssembly: sends its address, then answers every message with its resident bytes. */
import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';

const server = await PostgresServer.start();
process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  process.send!(process.memoryUsage.rss());
});
process.send!(server.url);
