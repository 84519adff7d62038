import { BenchError, unknownNameError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { AttributionRepository } from '../../store/attribution-repository.ts';
import { TokenPieceRepository } from '../../store/token-piece-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import { redactTurn } from '../../eval/analysis/redact-turn.ts';
import { findRunByName } from '../../eval/analysis/find-runs.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';
import type { TurnRef } from '../links.ts';
import { type AnsweredDisplayTurn, type DisplayTurn, turnForDisplay } from '../turn-scores-for-display.ts';

/** Reads what the page of a turn shows about its run. @throws BenchError `not-found` */
export function turnPageRun(database: BenchDatabase, runName: string, hidden: HiddenTexts) {
  const run = findRunByName(database, runName);
  const { id, name, suite, model, dataset, plan } = run;
  return {
    id,
    name,
    suite,
    model: { name: model.name, sha256: model.sha256 },
    metrics: metricsOfRun({ dataset, metrics: plan.metrics ?? [] }),
    // Includes arms that have no turns yet.
    arms: plan.arms,
    hiddenTexts: hidden(run),
  };
}

/** What the page of a turn shows about its run; `hiddenTexts` is the reason why hashes replace texts, or null. */
export type TurnPageRun = ReturnType<typeof turnPageRun>;

/** The turns of an item, sorted by arm in the order of the plan, repeat and turn. @throws BenchError `not-found` for an unknown item */
export function turnsOfItem(database: BenchDatabase, { id, name, arms, hiddenTexts }: TurnPageRun, item: string) {
  const stored = [...new TurnRepository(database).listByRun(id, { itemId: item })];
  const rows = hiddenTexts === null ? stored : stored.map(redactTurn);
  if (rows.length === 0)
    throw unknownNameError(`run "${name}" has no item`, item, new TurnListRepository(database).items(id));
  const place = ({ arm }: (typeof rows)[number]) => arms.findIndex((one) => one.name === arm);
  return rows.sort((a, b) => place(a) - place(b) || a.repeat - b.repeat || a.turn - b.turn);
}

/**
 * Reads a turn and everything that its page shows.
 * @param against arm to compare the sequence with; default: the arm that gives the same memories as text
 * @throws BenchError `not-found` for an unknown name, `database` for a row that cannot be read
 */
export function readTurnPage(database: BenchDatabase, ref: TurnRef, against?: string, hidden = hiddenInReports) {
  const run = turnPageRun(database, ref.run, hidden);
  const rows = turnsOfItem(database, run, ref.item);
  const quality = unknownQuality(run.model);
  const siblings = rows.map(({ id: _, ...row }) => turnForDisplay(row, quality, run.metrics));
  const find = (arm: string): DisplayTurn => {
    const ofArm = siblings.filter((one) => one.arm === arm);
    const turn = ofArm.find((one) => one.repeat === ref.repeat && one.turn === ref.turn);
    if (turn !== undefined) return turn;
    if (ofArm.length === 0) {
      throw unknownNameError(`run "${run.name}" has no arm`, arm, [...new Set(siblings.map((one) => one.arm))]);
    }
    throw new BenchError(
      'not-found',
      `item ${ref.item} has no turn ${ref.turn} of ${arm} in repeat ${ref.repeat}`,
      `it has ${ofArm.map(({ repeat, turn: number }) => `turn ${number} of repeat ${repeat}`).join(', ')}`,
    );
  };
  const turn = find(ref.arm);
  const rag = answeredOther(turn, comparedByDefault(turn, siblings, run.arms));
  const compared = against === undefined ? rag : answeredOther(turn, find(against));
  const row = rows.find((one) => one.arm === ref.arm && one.repeat === ref.repeat && one.turn === ref.turn)!;
  return {
    run,
    turn,
    siblings,
    rag,
    against: compared,
    attribution: new AttributionRepository(database).find(row.id),
    // Redacted ids are negative hashes, which match no piece.
    pieces: new TokenPieceRepository(database).find(run.model.sha256, tokenIds(turn, compared)),
  };
}

/**
 * Everything that the page of a turn shows:
 * - `siblings`: all turns on the item, including this one
 * - `rag`: the turn of the arm that gives the same memories as text; undefined if it did not run, failed, or is this turn
 * - `against`: the turn to compare the sequence with
 * - `pieces`: texts of the tokens of `turn` and `against` by id; empty if not recorded or hidden
 */
export type TurnModel = ReturnType<typeof readTurnPage>;

/** The same turn of the arm's reference. Without one: of the baseline, unless the arm is the baseline with other settings. */
function comparedByDefault(
  { arm, repeat, turn }: DisplayTurn,
  siblings: readonly DisplayTurn[],
  arms: readonly ArmTraits[],
): DisplayTurn | undefined {
  const own = arms.find(({ name }) => name === arm);
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  const name = own?.reference ?? (own?.base === baseline?.base ? undefined : baseline?.name);
  return siblings.find((one) => one.repeat === repeat && one.turn === turn && one.arm === name);
}

function answeredOther(turn: DisplayTurn, other: DisplayTurn | undefined): AnsweredDisplayTurn | undefined {
  return other === undefined || other === turn || other.state === 'failed' ? undefined : other;
}

function* tokenIds(...turns: readonly (DisplayTurn | undefined)[]): Generator<number> {
  for (const turn of turns) {
    if (turn?.state !== 'answered') continue;
    for (const segment of turn.prompt.segments) yield* segment.tokenIds;
  }
}

export function reference(run: TurnPageRun, { itemId, arm, repeat, turn }: DisplayTurn): TurnRef {
  return { run: run.name, item: itemId, arm, repeat, turn };
}
