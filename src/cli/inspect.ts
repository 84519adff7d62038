import { join } from 'node:path';
import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { viewerPort } from '../config/viewer-address.ts';
import { printable } from '../render/escape-control-characters.ts';
import type { BenchDatabase } from '../store/database.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { RunRepository } from '../store/run-repository.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import { viewerApp, type ViewerAppOptions } from '../viewer/app.ts';
import { exportPages, type ViewerExport } from '../viewer/export-pages.ts';
import type { HiddenTexts } from '../viewer/hidden-texts.ts';
import { printTurn, printTwoTurns } from '../viewer/turn/print-turn.ts';
import { reportLinks, serverLinks } from '../viewer/links.ts';
import { startServer } from '../viewer/server.ts';
import { openReports } from '../viewer/open-reports.ts';
import { readTurnPage, type TurnModel, turnsJson } from '../viewer/turn/turn-page.ts';
import { withInterrupt } from './with-interrupt.ts';
import { addConfigOptions, refuseUnusedFlags, wholeNumber, withExamples } from './options.ts';
import { displayPath, printLines, terminalPage, locationFlags } from './output.ts';
import { ProgressDisplay } from './progress.ts';
import { WithheldTexts } from './reveal-withheld-texts.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

/** Limit on the size of an export, so that it can be shared. */
const MAX_EXPORTED_BYTES = 200_000_000;

type TextFlag = keyof ChosenTurns | 'out' | 'db' | 'model' | 'engine' | 'port' | 'dataFile' | 'export' | 'report';
type InspectFlags = Readonly<Partial<Record<TextFlag, string> & Record<'print' | 'json' | 'attribution', true>>> & {
  readonly quiet?: boolean;
};
/** The turns to show. Defaults: the latest run, its first item, its primary arm (or two, comma-separated), the first turn. */
type ChosenTurns = Readonly<Partial<Record<'run' | 'item' | 'arm' | 'repeat' | 'turn', string>>>;

export function declare(command: Command): void {
  command.description(
    'inspect stored runs in a browser, or one turn in the terminal, with the prompt as the model got it',
  );
  addConfigOptions(command, ['out', 'db', 'model', 'engine', 'quiet'])
    .option('--run <name>', 'name of the run (default: the latest)')
    .option('--item <id>', 'item to show (default: the first of the run)')
    .option('--arm <names>', 'arm to show, or two to compare, comma-separated (default: the primary arm)')
    .option('--repeat <n>', 'repeat of the item (default: 0)')
    .option('--turn <n>', 'turn of the conversation (default: 0)')
    .option('--print', 'show the turn in the terminal')
    .option('--json', 'print the turn as one JSON document')
    .option('--attribution', "compute and store leave-one-out attribution first, with the run's model")
    .option('--port <n>', `port of the viewer, 0 for a free one (default: ${viewerPort})`)
    .option(
      '--data-file <files>',
      'your own file of a data set whose texts reports withhold: a path, or NAME=FILE, comma-separated (default: where the run had it)',
    )
    .option('--report <path>', 'folder of reports, or a file of one, to open instead of a database')
    .option(
      '--export <dir>',
      'new folder to write the run to, or all reports of --report, as pages that open from disk',
    )
    .action(inspect);
  withExamples(command, {
    inspect: 'opens the viewer on this machine',
    'inspect --run demo': 'opens the page of a run',
    'inspect --print --item u01-q01 --arm rag,dki': 'two turns of the last run in the terminal, and how they differ',
    'inspect --export pages --run demo': 'pages that open from disk',
  });
}

const withoutAttribution = ['has no effect without --attribution', 'add --attribution, or drop it'] as const;

async function inspect(flags: InspectFlags): Promise<void> {
  const { report, export: folder, attribution, print, json } = flags;
  if (report !== undefined) await inspectReports({ ...flags, report });
  else if (folder !== undefined) await exportDatabase({ ...flags, export: folder });
  else if (print === true || json === true || attribution === true) {
    if (attribution !== true || (await computeAttributions(flags))) printTurns(flags);
  } else await viewDatabase(flags);
}

async function inspectReports(flags: InspectFlags & { readonly report: string }): Promise<void> {
  const { report, port, dataFile, export: folder, run, quiet = false, ...others } = flags;
  refuseUnusedFlags({ ...others }, 'has no effect with --report, which opens no database');
  const { hidden, textsOf } = new WithheldTexts(dataFile);
  const { database: opened, withoutOutcomes } = await openReports(report, textsOf);
  using database = opened;
  if (folder !== undefined) {
    refuseUnusedFlags({ port }, 'is of the viewer, and pages are written');
    const several = run === undefined && new RunRepository(database).names().length > 1;
    const name = several ? undefined : findRun(database, run).name;
    await writePages({ database, run: name, folder, ofReports: true, hiddenTexts: hidden }, quiet);
    return;
  }
  const count = withoutOutcomes.length;
  const lacking = count === 0 ? '' : `; ${count} of them have no matrix, since they hold no outcomes of turns`;
  const what = `reports of ${displayPath(report)}${lacking}`;
  const first = run === undefined ? reportLinks.runs() : reportLinks.run(findRun(database, run).name);
  await serve({ database, ofReports: true, hiddenTexts: hidden }, port, { first, what });
}

async function exportDatabase({ run, out, db, quiet, export: folder, ...others }: InspectFlags & { export: string }) {
  refuseUnusedFlags({ ...others }, 'has no effect with --export, which writes a whole run');
  const config = loadBenchConfig({ flags: { out, db, quiet } });
  using database = openStoredRuns(config.db, { readOnly: true });
  await writePages({ database, run: findRun(database, run).name, folder }, config.quiet);
}

async function viewDatabase(flags: InspectFlags): Promise<void> {
  const { out, db, run, port, dataFile, model, engine, quiet: _, ...chosen } = flags;
  refuseUnusedFlags({ ...chosen }, 'chooses a turn for the terminal', 'add --print, or --json');
  refuseUnusedFlags({ model, engine }, ...withoutAttribution);
  const config = loadBenchConfig({ flags: { out, db } });
  using database = openStoredRuns(config.db, { readOnly: true });
  const { hidden: hiddenTexts } = new WithheldTexts(dataFile);
  const options = { database, hiddenTexts, places: locationFlags(config) };
  const first = run === undefined ? serverLinks.runs() : serverLinks.run(findRun(database, run).name);
  await serve(options, port, { first, what: `runs of ${displayPath(config.db)}` });
}

/** Serves pages until ^C. @param page path of the page to open, and what the pages show @throws BenchError `port` if another program has it */
async function serve(
  options: Omit<ViewerAppOptions, 'onBug'>,
  portText: string | undefined,
  { first, what }: Readonly<Record<'first' | 'what', string>>,
): Promise<void> {
  const port = portNumber(portText);
  const onBug = ({ stack, message }: Error) => process.stderr.write(`${printable(stack ?? message)}\n`);
  const app = viewerApp({ ...options, onBug });
  await withInterrupt(
    async (signal) => {
      const server = await startServer(app, port);
      process.stdout.write(`${new URL(first, server.url).href}\n`);
      process.stderr.write(`${printable(what)}, on this machine only; ^C ends the viewer\n`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await server.close();
    },
    { exitCode: exitCodes.ok },
  );
}

/** Reads the value of `--port`. @throws BenchError `bad-option` */
function portNumber(text: string | undefined): number {
  if (text === undefined) return viewerPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new BenchError('bad-option', `--port ${JSON.stringify(text)}: expected 0 to 65535`, '0 chooses a free port');
}

/** Shows the progress of an export, and prints at the end what was written and what was left out. */
async function writePages(
  wanted: Omit<ViewerExport, 'mostBytes' | 'onProgress' | 'signal'>,
  quiet: boolean,
): Promise<void> {
  using display = quiet ? undefined : new ProgressDisplay(process.stderr);
  const onProgress = (done: number, total: number) => display?.show({ phase: 'turns', done, total });
  const made = await withInterrupt(
    (signal) => exportPages({ ...wanted, mostBytes: MAX_EXPORTED_BYTES, onProgress, signal }),
    { onInterrupt: () => display?.say('stopping') },
  );
  if (made === undefined) return;
  const { runs, items, turns, files, bytes, leftOut } = made;
  const what = wanted.run === undefined ? `${runs} runs` : `run ${wanted.run}`;
  const counts = `${items} items, ${turns} turns, ${files} files, ${Math.ceil(bytes / 1e6)} MB`;
  printLines([`${displayPath(join(wanted.folder, 'index.html'))}: ${what}, ${counts}`, ...leftOut]);
}

function printTurns({ out, db, json, dataFile, port, model, engine, attribution, ...chosen }: InspectFlags): void {
  refuseUnusedFlags({ port }, 'is of the viewer, and turns are printed');
  if (attribution !== true) refuseUnusedFlags({ model, engine }, ...withoutAttribution);
  const { hidden } = new WithheldTexts(dataFile);
  using database = openStoredRuns(loadBenchConfig({ flags: { out, db } }).db, { readOnly: true });
  const turns = chosenTurns(database, chosen, hidden);
  const [first, second] = turns;
  const { name, hiddenTexts } = first.run;
  if (hiddenTexts !== null) printLines([hiddenTexts], process.stderr);
  const page = terminalPage();
  if (json === true) process.stdout.write(turnsJson(turns));
  else if (second === undefined) process.stdout.write(printTurn(name, first.turn, page, first));
  else process.stdout.write(printTwoTurns(name, [first, second], page));
}

/** Reads one turn, or two of one item. @param hidden hides texts, by default as reports do @throws BenchError `bad-option`, `not-found` */
function chosenTurns(database: BenchDatabase, chosen: ChosenTurns, hidden?: HiddenTexts): [TurnModel, ...TurnModel[]] {
  const number = (option: string, value = '0') => wholeNumber(option, value, 0, 'the first is 0');
  const [repeat, turn] = [number('--repeat', chosen.repeat), number('--turn', chosen.turn)];
  const named = chosen.arm?.split(',').map((part) => part.trim());
  if (named !== undefined && named.length > 2) {
    const hint = 'name one, or two to compare them';
    throw new BenchError('bad-option', `--arm ${chosen.arm!}: ${named.length} arms`, hint);
  }
  const run = findRun(database, chosen.run);
  const item = chosen.item ?? firstItem(database, run);
  const { arms } = run.plan;
  const primary = arms.find(({ comparison }) => comparison === 'primary') ?? arms[0];
  const read = (arm: string) => readTurnPage(database, { run: run.name, item, arm, repeat, turn }, undefined, hidden);
  const [first = primary?.name ?? '', ...others] = named ?? [];
  return [read(first), ...others.map(read)];
}

function firstItem(database: BenchDatabase, { id, name }: Pick<RunRecord, 'id' | 'name'>): string {
  for (const { itemId } of new TurnRepository(database).listForResults(id)) return itemId;
  throw new BenchError('not-found', `run "${name}" holds no turn`, 'it ended before its first turn');
}

/** Loads the code that runs models. Not inlined, since tsc does not rewrite the path of an import beside `using`. */
const loadAttribution = () => import('./attribute-turns.ts');

/** Computes and stores the leave-one-out attribution of the chosen turns; false if ^C ended it. */
async function computeAttributions({ out, db, model, engine, quiet, ...chosen }: InspectFlags): Promise<boolean> {
  const config = loadBenchConfig({ flags: { out, db, model, engine, quiet } });
  const { attributeTurns } = await loadAttribution();
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const onProgress = (arm: string, count: number, of: number) =>
    display?.say(`leave-one-out attribution of ${arm}: ${count} of ${of} evaluations`);
  using database = openStoredRuns(config.db);
  if (database.readOnly) {
    const message = `${displayPath(config.db)} cannot be written, and --attribution stores what it computes`;
    throw new BenchError('bad-option', message, 'make it writable, or copy it and name the copy: --db FILE');
  }
  const turns = chosenTurns(database, chosen);
  display?.say('loading the model');
  const done = await withInterrupt(
    async (signal) => {
      await attributeTurns(database, config, turns, { onProgress, signal });
      return true;
    },
    { onInterrupt: () => display?.say('stopping') },
  );
  return done === true;
}
