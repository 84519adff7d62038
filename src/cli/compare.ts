import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { compareStoredRuns } from '../eval/analysis/compare/compare-runs.ts';
import { printableJson } from '../render/escape-control-characters.ts';
import { runCaveat, objections, renderRunsComparison } from '../report/render-runs-comparison.ts';
import { addConfigOptions, type Flags, type JsonFlag, withExamples } from './options.ts';
import { printLines, terminalPage } from './output.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

type CompareFlags = Flags & JsonFlag & Readonly<{ arms?: string; force?: true }>;

export function declare(command: Command): void {
  command
    .description('compare two runs item by item: is the first as good as the second?')
    .argument('<run-a>', 'run to judge')
    .argument('<run-b>', 'run to compare it with')
    .option(
      '--arm, --arms <names>',
      'arms, comma-separated; rag/dki compares rag of the first with dki of the second (default: all arms of both runs)',
    )
    .option('--force', 'also compare runs of different data or models')
    .option('--json', 'print one JSON document with every flipped item');
  addConfigOptions(command, ['margin', 'seed', 'out', 'db']).action(compare);
  withExamples(command, {
    'compare mine yesterday': 'is mine as good as yesterday, arm by arm?',
    'compare mine yesterday --arms dki/rag': 'dki of the first against rag of the second',
    'compare mine yesterday --json': 'with every flipped item, for a program',
  });
}

function compare(nameA: string, nameB: string, { arms, force, json, ...flags }: CompareFlags): void {
  const { db, seed, margin } = loadBenchConfig({ flags });
  using database = openStoredRuns(db);
  const comparison = compareStoredRuns(
    database,
    { a: findRun(database, nameA), b: findRun(database, nameB) },
    { arms: arms === undefined ? undefined : armNames(arms), force: force === true, seed, margin },
  );
  if (json === true) {
    process.stdout.write(printableJson(comparison));
    printLines(objections(comparison), process.stderr);
  } else process.stdout.write(renderRunsComparison(comparison, terminalPage()));
  const proven = [comparison.a, comparison.b].every((run) => runCaveat(run) === undefined);
  process.exitCode = proven ? exitCodes.ok : exitCodes.checkFailed;
}

function armNames(arms: string): string[] {
  const names = arms.split(',').map((name) => name.trim());
  if (names.every((name) => /^[^/]+(?:\/[^/]+)?$/.test(name))) return [...new Set(names)];
  const message = `--arms ${JSON.stringify(arms)}: expected comma-separated names`;
  throw new BenchError('bad-option', message, 'such as rag,dki or rag/dki');
}
