import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';

/**
 * PostgreSQL in WebAssembly as a process, so that its memory is its own: sends its address, then to every message what
 * it occupies, bytes. It ends with who forked it.
 */
const server = await PostgresServer.start();
process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  process.send!(process.memoryUsage.rss());
});
process.send!(server.url);
