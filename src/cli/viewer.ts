import { existsSync } from 'node:fs';
import { BenchError } from '../config/bench-error.ts';
import { openDatabase } from '../db/database.ts';
import type { InfluencePort } from '../inspect/influence-port.ts';
import { inspectApp } from '../inspect/server/inspect-app.ts';
import { startServer } from '../inspect/server/start-server.ts';
import { viewerScript } from '../inspect/server/viewer-script.ts';
import { printable } from '../report/render/printable.ts';
import { shownPath } from './command-line.ts';
import { exitCodes } from './failure.ts';
import { interruptible } from './interruption.ts';

/** Where the viewer is unless `--port` says otherwise: its address can be kept as a bookmark. */
export const viewerPort = 8414;

export interface ViewerOptions {
  /** The database, which is only read. */
  readonly path: string;
  /** 0 for one that is free. */
  readonly port: number;
  readonly influence?: InfluencePort | undefined;
  /** Options of a command that say where the database is; none where that is the default. */
  readonly places: readonly string[];
}

/** @throws BenchError `bad-option` */
export function portOf(text: string | undefined): number {
  if (text === undefined) return viewerPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new BenchError('bad-option', `--port ${JSON.stringify(text)}: expected 0 to 65535`, '0 takes one that is free');
}

/** The script of the pages; where it was not built, says so once and goes on without. */
function scriptOrNotice(): string | undefined {
  try {
    return viewerScript();
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    process.stderr.write(`${error.message}\n  hint: ${error.hint}\n`);
    return undefined;
  }
}

/**
 * Serves the viewer until ^C.
 * @throws BenchError `not-found` without a database, `port` where another program has it
 */
export async function runViewer({ path, port, influence, places }: ViewerOptions): Promise<void> {
  if (!existsSync(path)) {
    throw new BenchError('not-found', `there is no database ${shownPath(path)}`, 'make one: npm run bench');
  }
  using database = openDatabase({ path, readOnly: true });
  const onBug = ({ stack, message }: Error) => process.stderr.write(`${printable(stack ?? message)}\n`);
  const app = inspectApp({ database, script: scriptOrNotice(), influence, places, onBug });
  const ended = new AbortController();
  await interruptible(
    ended,
    async () => {
      const server = await startServer(app, port);
      process.stdout.write(`${server.url}\n`);
      process.stderr.write(`the runs of ${printable(shownPath(path))}, on this machine alone; ^C ends it\n`);
      await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
      await server.close();
    },
    () => undefined,
    exitCodes.ok,
  );
}
