import type { Command } from 'commander';
import { BenchError } from '../config/bench-error.ts';
import { loadBenchConfig } from '../config/load-config.ts';
import { didYouMean } from '../config/nearest-name.ts';
import type { BenchDatabase } from '../db/database.ts';
import type { RunRow } from '../db/schema.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import { unknownQuality } from '../eval/unknown-quality.ts';
import { printTurn, printTwoTurns } from '../inspect/print-turn.ts';
import { type InspectedTurn, inspectedTurn } from '../inspect/stored-turn.ts';
import { printableJson } from '../report/render/printable.ts';
import { addConfigOptions } from './config-options.ts';
import { pageOf } from './page.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

interface InspectFlags {
  readonly run?: string;
  readonly out?: string;
  readonly db?: string;
  readonly item?: string;
  readonly arm?: string;
  readonly turn?: string;
  readonly print?: true;
  readonly json?: true;
}

/** Declares `inspect`. */
export function declareInspect(command: Command): void {
  command.description('show exactly what the model was given in a turn');
  addConfigOptions(command, ['run', 'out', 'db'])
    .option('--item <id>', 'the item (default: the first of the run)')
    .option('--arm <names>', 'one arm, or two by comma (default: dki)')
    .option('--turn <n>', 'the turn of the session (default: 0)')
    .option('--print', 'in the terminal')
    .option('--json', 'as one JSON document')
    .action(inspect);
}

function inspect({ run: name, out, db, item, arm, turn, print, json }: InspectFlags): void {
  if (print !== true && json !== true) {
    throw new BenchError('bad-option', 'this release shows turns in the terminal only', 'add --print, or --json');
  }
  const number = turn ?? '0';
  if (!/^\d+$/.test(number)) {
    throw new BenchError(
      'bad-option',
      `--turn ${JSON.stringify(turn)}: expected a whole number, 0 or more`,
      'the first is 0',
    );
  }
  const config = loadBenchConfig({ flags: { out, db } });
  using database = openStoredRuns(config.db);
  const run = findRun(database, name);
  const arms = arm?.split(',').map((part) => part.trim()) ?? [];
  if (arms.length > 2) {
    throw new BenchError('bad-option', `--arm ${arm!}: ${arms.length} arms`, 'name one, or two to compare them');
  }
  const known = new KnownTurns(database, run);
  const itemId = item ?? known.firstItem();
  const [first, second] = (arms.length === 0 ? ['dki'] : arms).map((part) => known.turn(itemId, part, Number(number)));
  if (json === true) {
    process.stdout.write(
      printableJson({ run: { id: run.id, name: run.name }, turns: [first, second].filter(Boolean) }),
    );
    return;
  }
  const page = pageOf(process.stdout);
  process.stdout.write(
    second === undefined ? printTurn(run.name, first!, page) : printTwoTurns(run.name, [first!, second], page),
  );
}

/** The turns of a run, found by names that may be mistyped. */
class KnownTurns {
  readonly #turns: TurnRepository;
  readonly #run: RunRow;

  constructor(database: BenchDatabase, run: RunRow) {
    this.#turns = new TurnRepository(database);
    this.#run = run;
  }

  firstItem(): string {
    const [first] = this.#turns.listByRun(this.#run.id);
    if (first !== undefined) return first.itemId;
    throw new BenchError('not-found', `run "${this.#run.name}" holds no turn`, 'it was ended before its first');
  }

  arms(): string[] {
    return this.#names((row) => row.arm);
  }

  turn(itemId: string, arm: string, number: number): InspectedTurn {
    const rows = this.#turns.find(this.#run.id, itemId, arm);
    const row = rows.find((candidate) => candidate.turn === number);
    if (row !== undefined) return inspectedTurn(row, unknownQuality(this.#run.model as { readonly name: string }));
    const items = this.#names((candidate) => candidate.itemId);
    if (!items.includes(itemId)) throw this.#unknown('item', itemId, items);
    if (rows.length === 0) throw this.#unknown('arm', arm, this.arms());
    throw new BenchError(
      'not-found',
      `item ${itemId} has no turn ${number} of ${arm}`,
      `it has ${rows.length}, from 0`,
    );
  }

  #names(of: (row: { readonly arm: string; readonly itemId: string }) => string): string[] {
    return [...new Set(Array.from(this.#turns.listByRun(this.#run.id), of))];
  }

  #unknown(kind: string, name: string, known: readonly string[]): BenchError {
    const message = `run "${this.#run.name}" has no ${kind} "${name}"${didYouMean(name, known)}`;
    const others = known.length > 8 ? `, and ${known.length - 8} more` : '';
    return new BenchError('not-found', message, `it has ${known.slice(0, 8).join(', ')}${others}`);
  }
}
