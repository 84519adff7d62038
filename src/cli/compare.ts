import { type Command, Option } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { compareStoredRuns } from '../eval/analysis/stored-results.ts';
import { printable, printableJson } from '../render/printable.ts';
import { lackOfRun, objections, renderRunsComparison } from '../report/runs-comparison.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { pageOf } from './page.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

interface CompareFlags {
  readonly arms?: string;
  readonly force?: true;
  readonly json?: true;
  readonly out?: string;
  readonly db?: string;
  readonly seed?: string;
  readonly margin?: string;
}

/** Declares `compare`. */
export function declareCompare(command: Command): void {
  command
    .description('compare two runs item by item: the first is judged against the second')
    .argument('<run-a>', 'run that is judged')
    .argument('<run-b>', 'run that it is judged against')
    .addOption(
      new Option(
        '--arm, --arms <names>',
        'arms, comma-separated; rag/dki compares rag of the first with dki of the second (default: all that both have)',
      ),
    )
    .option('--force', 'compare runs of different data or models, too')
    .option('--json', 'print one JSON document with every flipped item');
  addConfigOptions(command, ['margin', 'seed', 'out', 'db']).action((a: string, b: string, flags: CompareFlags) => {
    process.exitCode = compare(a, b, flags);
  });
}

function compare(nameA: string, nameB: string, { arms, force, json, ...flags }: CompareFlags): number {
  const config = loadBenchConfig({ flags: { ...flags } });
  using database = openStoredRuns(config.db);
  const comparison = compareStoredRuns(
    database,
    { a: findRun(database, nameA), b: findRun(database, nameB) },
    {
      arms: arms === undefined ? undefined : listed(arms),
      force: force === true,
      seed: config.seed,
      margin: config.margin,
    },
  );
  if (json === true) process.stdout.write(printableJson(comparison));
  else process.stdout.write(renderRunsComparison(comparison, pageOf(process.stdout)));
  for (const objection of json === true ? objections(comparison) : []) {
    process.stderr.write(`${printable(objection)}\n`);
  }
  const proven = [comparison.a, comparison.b].every((run) => lackOfRun(run) === undefined);
  return proven ? exitCodes.ok : exitCodes.checkFailed;
}

function listed(arms: string): string[] {
  const names = arms.split(',').map((name) => name.trim());
  if (names.every((name) => /^[^/]+(?:\/[^/]+)?$/.test(name))) return [...new Set(names)];
  throw new BenchError(
    'bad-option',
    `--arms ${JSON.stringify(arms)}: expected comma-separated names`,
    'such as rag,dki or rag/dki',
  );
}
