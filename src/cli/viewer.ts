import { existsSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { viewerPort } from '../config/viewer-address.ts';
import { openDatabase } from '../store/database.ts';
import type { AttributionPort } from '../viewer/attribution/attribution-port.ts';
import type { HiddenTexts } from '../viewer/hidden-texts.ts';
import { inspectApp, type InspectAppOptions } from '../viewer/server/inspect-app.ts';
import { startServer } from '../viewer/server/start-server.ts';
import { openReports, type TextsOfRun } from '../viewer/stored-reports/open-reports.ts';
import { viewerScript } from '../viewer/server/viewer-script.ts';
import { printable } from '../render/printable.ts';
import { shownPath } from './command-line.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { interruptible } from './interruption.ts';

/** Options of the viewer. */
export interface ViewerOptions {
  /** The database, which is only read. */
  readonly path: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly attribution?: AttributionPort | undefined;
  /** Why hashes stand in place of a run's texts; by default the rule of reports. */
  readonly hiddenTexts?: HiddenTexts | undefined;
  /** Options of a command that name the database; none for the default one. */
  readonly places: readonly string[];
}

/** Options of the viewer of reports. */
export interface ReportViewerOptions extends Pick<ViewerOptions, 'path' | 'port' | 'hiddenTexts'> {
  readonly textsOf: TextsOfRun;
}

/** Reads the value of `--port`. @throws BenchError `bad-option` */
export function portOf(text: string | undefined): number {
  if (text === undefined) return viewerPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new BenchError('bad-option', `--port ${JSON.stringify(text)}: expected 0 to 65535`, '0 chooses a free port');
}

/** The script of the pages; undefined, with a message, if it was not built. */
function scriptOrNotice(): string | undefined {
  try {
    return viewerScript();
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    process.stderr.write(`${printable(error.message)}\n  hint: ${printable(error.hint)}\n`);
    return undefined;
  }
}

/**
 * Serves the viewer of a database until ^C.
 * @throws BenchError `not-found` without a database, `port` if another program has it
 */
export async function runViewer({ path, ...options }: ViewerOptions): Promise<void> {
  if (!existsSync(path)) {
    throw new BenchError('not-found', `there is no database ${shownPath(path)}`, 'make one: npm run bench');
  }
  using database = openDatabase({ path, readOnly: true });
  await serve({ database, ...options }, `runs of ${shownPath(path)}`);
}

/** Serves the viewer of reports, which need no database, until ^C. @throws BenchError as `openReports`, and `port` */
export async function runReportViewer({ path, port, hiddenTexts, textsOf }: ReportViewerOptions): Promise<void> {
  const { database: opened, withoutOutcomes } = await openReports(path, textsOf);
  using database = opened;
  const lacking =
    withoutOutcomes.length === 0
      ? ''
      : `; ${withoutOutcomes.length} without outcomes of their turns, which have no matrix`;
  await serve({ database, ofReports: true, port, hiddenTexts }, `reports of ${shownPath(path)}${lacking}`);
}

/** Serves pages until ^C. @param what is shown, for the terminal */
async function serve(
  { port, ...options }: Omit<InspectAppOptions, 'script' | 'onBug'> & Pick<ViewerOptions, 'port'>,
  what: string,
): Promise<void> {
  const onBug = ({ stack, message }: Error) => process.stderr.write(`${printable(stack ?? message)}\n`);
  const app = inspectApp({ ...options, script: scriptOrNotice(), onBug });
  const ended = new AbortController();
  await interruptible(
    ended,
    async () => {
      const server = await startServer(app, port);
      process.stdout.write(`${server.url}\n`);
      process.stderr.write(`${printable(what)}, on this machine alone; ^C ends the viewer\n`);
      await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
      await server.close();
    },
    () => undefined,
    exitCodes.ok,
  );
}
