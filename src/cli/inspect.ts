import type { Command } from 'commander';
import { BenchError } from '../config/bench-error.ts';
import { loadBenchConfig } from '../config/load-config.ts';
import { placeWords } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import type { TurnRef } from '../inspect/links.ts';
import { exitCodes } from './failure.ts';
import { type ChosenTurns, chosenTurns, writeTurns } from './inspect-turns.ts';
import { LateInfluence } from './late-influence.ts';
import { openStoredRuns } from './stored-runs.ts';
import { portOf, runViewer, viewerPort } from './viewer.ts';

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
  readonly influence?: true;
  readonly model?: string;
  readonly quiet?: boolean;
  readonly port?: string;
  readonly export?: string;
}

/** Declares `inspect`. */
export function declareInspect(command: Command): void {
  command.description(
    'show exactly what the model was given in a turn: runs and turns in a browser, or one in the terminal',
  );
  addConfigOptions(command, ['run', 'out', 'db', 'model', 'quiet'])
    .option('--item <id>', 'the item (default: the first of the run)')
    .option('--arm <names>', 'one arm, or two by comma (default: dki)')
    .option('--repeat <n>', 'the repeat (default: 0)')
    .option('--turn <n>', 'the turn of the session (default: 0)')
    .option('--print', 'in the terminal')
    .option('--json', 'as one JSON document')
    .option('--influence', "compute first, with the run's model, what each memory did to the answer; it is stored")
    .option('--port <n>', `where the viewer listens, 0 for a free one (default: ${viewerPort})`)
    .option('--export <dir>', 'write the run as pages into a new folder: they open from disk, without the viewer')
    .action(inspect);
}

async function inspect(flags: InspectFlags): Promise<void> {
  if (flags.export !== undefined) {
    await exportPages({ ...flags, export: flags.export });
    return;
  }
  if (flags.influence === true && !(await addInfluence(flags))) {
    process.exitCode = exitCodes.interrupted;
    return;
  }
  if (flags.print === true || flags.json === true || flags.influence === true) printTurns(flags);
  else await view(flags);
}

/** All turns are written: options that choose or show one say nothing to an export. */
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
    throw new BenchError('bad-option', `--${named} says nothing to --export, which writes a whole run`, 'leave it out');
  }
  const config = loadBenchConfig({ flags: { out, db, quiet } });
  const { exportToFolder } = await import('./inspect-export.ts');
  process.exitCode = await exportToFolder(config, run, folder);
}

/** Options that name a turn say nothing to the viewer, which has all of them. */
async function view({ run, item, arm, repeat, turn, out, db, model, port }: InspectFlags): Promise<void> {
  const [named] = Object.entries({ run, item, arm, repeat, turn }).filter(([, value]) => value !== undefined);
  if (named !== undefined) {
    throw new BenchError('bad-option', `--${named[0]} chooses a turn for the terminal`, 'add --print, or --json');
  }
  const config = loadBenchConfig({ flags: { out, db, model } });
  await using influence = new LateInfluence(config);
  await runViewer({ path: config.db, port: portOf(port), influence, places: placeWords(config) });
}

/** Computes the influence of each memory of the turns that are chosen; false where ^C ended it. */
async function addInfluence({ out, db, model, quiet, ...chosen }: InspectFlags): Promise<boolean> {
  const config = loadBenchConfig({ flags: { out, db, model, quiet } });
  const { computeInfluences } = await import('./inspect-influence.ts');
  return computeInfluences(config, chosenRefs(config.db, chosen));
}

function chosenRefs(db: string, chosen: ChosenTurns): TurnRef[] {
  // It is written to afterwards.
  using database = openStoredRuns(db);
  return chosenTurns(database, chosen).flatMap((model) => {
    if (model === undefined) return [];
    const { itemId, arm, repeat, turn } = model.turn;
    return { run: model.run.name, item: itemId, arm, repeat, turn };
  });
}

function printTurns({ out, db, json, ...chosen }: InspectFlags): void {
  using database = openStoredRuns(loadBenchConfig({ flags: { out, db } }).db, { readOnly: true });
  writeTurns(chosenTurns(database, chosen), json === true);
}
