import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { flagOf } from '../config/config-options.ts';
import { viewerPort } from '../config/viewer-address.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { placeWords } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import type { TurnRef } from '../viewer/links.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { type ChosenTurns, chosenTurns, writeTurns } from './inspect-turns.ts';
import { LateAttribution } from './late-attribution.ts';
import { ReaderFiles } from './reader-files.ts';
import { openStoredRuns } from './stored-runs.ts';
import { portOf, runReportViewer, runViewer } from './viewer.ts';

interface InspectFlags {
  readonly run?: string;
  readonly out?: string;
  readonly db?: string;
  readonly item?: string;
  readonly arm?: string;
  readonly repeat?: string;
  readonly turn?: string;
  readonly print?: true;
  readonly json?: true;
  readonly attribution?: true;
  readonly model?: string;
  readonly engine?: string;
  readonly quiet?: boolean;
  readonly port?: string;
  readonly dataFile?: string;
  readonly export?: string;
  readonly report?: string;
}

/** Declares `inspect`. */
export function declareInspect(command: Command): void {
  command.description(
    'inspect stored runs in a browser, or one turn in the terminal, with the prompt as the model got it',
  );
  addConfigOptions(command, ['out', 'db', 'model', 'engine', 'quiet'])
    .option('--run <name>', 'name of the run (default: the latest)')
    .option('--item <id>', 'item to show (default: the first of the run)')
    .option('--arm <names>', 'arm to show, or two to compare, comma-separated (default: dki)')
    .option('--repeat <n>', 'repeat of the item (default: 0)')
    .option('--turn <n>', 'turn of the conversation (default: 0)')
    .option('--print', 'show the turn in the terminal')
    .option('--json', 'print the turn as one JSON document')
    .option('--attribution', "compute and store leave-one-out attribution first, with the run's model")
    .option('--port <n>', `port of the viewer, 0 for a free one (default: ${viewerPort})`)
    .option(
      '--data-file <files>',
      "your own file of a data set that is others', which shows its texts: a path, or NAME=FILE, comma-separated (default: where the run had it)",
    )
    .option('--report <path>', 'folder of reports, or a file of one, to open in place of a database')
    .option(
      '--export <dir>',
      'new folder to write the run to, or all reports of --report, as pages that open from disk',
    )
    .action(inspect);
}

async function inspect(flags: InspectFlags): Promise<void> {
  if (flags.report !== undefined) {
    await inspectReports({ ...flags, report: flags.report });
    return;
  }
  if (flags.export !== undefined) {
    await exportPages({ ...flags, export: flags.export });
    return;
  }
  if (flags.attribution === true && !(await addAttribution(flags))) {
    process.exitCode = exitCodes.interrupted;
    return;
  }
  if (flags.print === true || flags.json === true || flags.attribution === true) printTurns(flags);
  else await view(flags);
}

/** Opens stored reports in the viewer, or exports one; options of databases and turns are refused. */
async function inspectReports({
  report,
  port,
  dataFile,
  export: folder,
  run,
  quiet,
  ...others
}: InspectFlags & { readonly report: string }): Promise<void> {
  const [named] = Object.keys(others);
  if (named !== undefined) {
    throw new BenchError(
      'bad-option',
      `${flagOf(named)} has no effect with --report, which opens no database`,
      'drop it',
    );
  }
  const { hidden, textsOf } = new ReaderFiles(dataFile);
  if (folder !== undefined) {
    const { exportReports } = await import('./inspect-export.ts');
    process.exitCode = await exportReports({ path: report, run, folder, hidden, textsOf, quiet: quiet === true });
    return;
  }
  if (run !== undefined) throw new BenchError('bad-option', '--run chooses a report to export', 'add --export DIR');
  await runReportViewer({ path: report, port: portOf(port), hiddenTexts: hidden, textsOf });
}

/** Exports all turns of a run; options that choose or show a turn are refused. */
async function exportPages({
  run,
  out,
  db,
  quiet,
  export: folder,
  ...others
}: InspectFlags & { readonly export: string }) {
  const [named] = Object.keys(others);
  if (named !== undefined) {
    throw new BenchError(
      'bad-option',
      `${flagOf(named)} has no effect with --export, which writes a whole run`,
      'drop it',
    );
  }
  const config = loadBenchConfig({ flags: { out, db, quiet } });
  const { exportToFolder } = await import('./inspect-export.ts');
  process.exitCode = await exportToFolder(config, run, folder);
}

/** Runs the viewer, which shows all turns; options that choose a turn are refused. */
async function view({
  run,
  item,
  arm,
  repeat,
  turn,
  out,
  db,
  model,
  engine,
  port,
  dataFile,
}: InspectFlags): Promise<void> {
  const [named] = Object.entries({ run, item, arm, repeat, turn }).filter(([, value]) => value !== undefined);
  if (named !== undefined) {
    throw new BenchError('bad-option', `--${named[0]} chooses a turn for the terminal`, 'add --print, or --json');
  }
  const config = loadBenchConfig({ flags: { out, db, model, engine } });
  await using attribution = new LateAttribution(config);
  const { hidden: hiddenTexts } = new ReaderFiles(dataFile);
  await runViewer({ path: config.db, port: portOf(port), attribution, hiddenTexts, places: placeWords(config) });
}

/** Computes the leave-one-out attribution of the chosen turns; false if ^C ended it. */
async function addAttribution({
  out,
  db,
  model,
  engine,
  quiet,
  dataFile: _,
  ...chosen
}: InspectFlags): Promise<boolean> {
  const config = loadBenchConfig({ flags: { out, db, model, engine, quiet } });
  const { computeAttributions } = await import('./inspect-attribution.ts');
  return computeAttributions(config, chosenRefs(config.db, chosen));
}

function chosenRefs(db: string, chosen: ChosenTurns): TurnRef[] {
  // Not read-only: attributions are written to it afterwards.
  using database = openStoredRuns(db);
  return chosenTurns(database, chosen).flatMap((model) => {
    if (model === undefined) return [];
    const { itemId, arm, repeat, turn } = model.turn;
    return { run: model.run.name, item: itemId, arm, repeat, turn };
  });
}

function printTurns({ out, db, json, dataFile, ...chosen }: InspectFlags): void {
  const { hidden } = new ReaderFiles(dataFile);
  using database = openStoredRuns(loadBenchConfig({ flags: { out, db } }).db, { readOnly: true });
  writeTurns(chosenTurns(database, chosen, hidden), json === true);
}
