import { BenchError } from '../base/bench-error.ts';
import type { BenchDatabase } from '../store/database.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import type { HiddenTexts } from '../viewer/hidden-texts.ts';
import { printTurn, printTwoTurns } from '../viewer/print/print-turn.ts';
import { readTurnPage, type TurnModel } from '../viewer/turn/read-turn.ts';
import { turnsJson } from '../viewer/turn/turn-json.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { printable } from '../render/printable.ts';
import { pageOf } from './page.ts';
import { findRun } from './stored-runs.ts';

/** The turns to show. Defaults: the latest run, its first item, its primary arm, the first turn. */
export interface ChosenTurns {
  readonly run?: string | undefined;
  readonly item?: string | undefined;
  /** One arm, or two, comma-separated. */
  readonly arm?: string | undefined;
  readonly repeat?: string | undefined;
  readonly turn?: string | undefined;
}

/** Reads the number of an option, from 0. */
function numberOf(option: string, value: string | undefined): number {
  if (value === undefined) return 0;
  if (/^\d+$/.test(value)) return Number(value);
  const message = `--${option} ${JSON.stringify(value)}: expected a whole number, 0 or more`;
  throw new BenchError('bad-option', message, 'the first is 0');
}

function armsOf(arm: string | undefined): string[] | undefined {
  const arms = arm?.split(',').map((part) => part.trim());
  if (arms === undefined || arms.length <= 2) return arms;
  throw new BenchError('bad-option', `--arm ${arm!}: ${arms.length} arms`, 'name one, or two to compare them');
}

/** The arm that is shown by default: the primary one of the run, else its first. */
function presetArm({ plan: { arms } }: RunRecord): string {
  return (arms.find(({ comparison }) => comparison === 'primary') ?? arms[0])?.name ?? '';
}

/** Reads one turn, or two of one item. @param hidden by default the rule of reports @throws BenchError `bad-option`, `not-found` */
export function chosenTurns(
  database: BenchDatabase,
  chosen: ChosenTurns,
  hidden?: HiddenTexts,
): readonly [TurnModel, TurnModel?] {
  const [repeat, turn] = [numberOf('repeat', chosen.repeat), numberOf('turn', chosen.turn)];
  const named = armsOf(chosen.arm);
  const run = findRun(database, chosen.run);
  const item = chosen.item ?? firstItem(database, run);
  const arms = named ?? [presetArm(run)];
  const [first, second] = arms.map((arm) =>
    readTurnPage(database, { run: run.name, item, arm, repeat, turn }, undefined, hidden),
  );
  return second === undefined ? [first!] : [first!, second];
}

function firstItem(database: BenchDatabase, { id, name }: { readonly id: string; readonly name: string }): string {
  for (const { itemId } of new TurnRepository(database).listForResults(id)) return itemId;
  throw new BenchError('not-found', `run "${name}" holds no turn`, 'it was ended before its first');
}

/** Writes turns to standard output, as JSON or as text; why they have no texts, to standard error. */
export function writeTurns([first, second]: readonly [TurnModel, TurnModel?], json: boolean): void {
  const { stdout, stderr } = process;
  const { hiddenTexts } = first.run;
  if (hiddenTexts !== null) stderr.write(`${printable(hiddenTexts)}\n`);
  if (json) {
    stdout.write(turnsJson(second === undefined ? [first] : [first, second]));
    return;
  }
  const page = pageOf(stdout);
  const { name } = first.run;
  stdout.write(
    second === undefined ? printTurn(name, first.turn, page, first) : printTwoTurns(name, [first, second], page),
  );
}
