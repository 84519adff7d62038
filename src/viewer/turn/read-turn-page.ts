import { BenchError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { AttributionRepository } from '../../store/attribution-repository.ts';
import { TokenPieceRepository } from '../../store/token-piece-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/run-metrics.ts';
import { unknownQuality } from '../../eval/analysis/clear-random-model-scores.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import { redactTurn } from '../../eval/analysis/redact-turn.ts';
import { findRunByName, unknownName } from '../find-by-name.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';
import type { TurnRef } from '../links.ts';
import { type AnsweredTurn, type DisplayTurn, turnForDisplay } from '../turn-for-display.ts';

/** Reads the facts of a run that stand on the pages of its turns. @throws BenchError `not-found` */
export function turnPageRun(database: BenchDatabase, runName: string, hidden: HiddenTexts) {
  const run = findRunByName(database, runName);
  const { id, name, suite, model, dataset, plan } = run;
  return {
    id,
    name,
    suite,
    model: { name: model.name, sha256: model.sha256 },
    metrics: metricsOfRun({ dataset, metrics: plan.metrics ?? [] }),
    // Also those that have no turn yet.
    arms: plan.arms,
    hiddenTexts: hidden(run),
  };
}

/** A run as pages of its turns know it; `hiddenTexts` says why hashes stand in place of its texts, or is null. */
export type TurnPageRun = ReturnType<typeof turnPageRun>;

/** The turns of an item, by arm, repeat and number of the turn. @throws BenchError `not-found` where there is none */
export function turnsOfItem(database: BenchDatabase, { id, name, hiddenTexts }: TurnPageRun, item: string) {
  const stored = [...new TurnRepository(database).listByRun(id, { itemId: item })];
  const rows = hiddenTexts === null ? stored : stored.map(redactTurn);
  if (rows.length === 0)
    throw unknownName(`run "${name}" has no item`, item, new TurnListRepository(database).items(id));
  return rows.sort((a, b) => compare(a.arm, b.arm) || a.repeat - b.repeat || a.turn - b.turn);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Reads a turn with what is shown beside it.
 * @param against the arm whose sequence is compared; by default the one that gives the same memories as text
 * @param hidden by default the rule of reports
 * @throws BenchError `not-found` for a name that the run does not have, `database` for a row that cannot be read
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
      throw unknownName(`run "${run.name}" has no arm`, arm, [...new Set(siblings.map((one) => one.arm))]);
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
    // Ids of hidden texts are no ids, and have none.
    pieces: new TokenPieceRepository(database).find(run.model.sha256, tokenIds(turn, compared)),
  };
}

/**
 * A turn with all that its page shows: `siblings`, all turns on the item, this one among them; `rag`, the turn of the arm that gives
 * the same memories as text, undefined if it did not run, failed, or is this one; `against`, the turn whose sequence is compared;
 * `pieces`, the texts of the tokens of both by id, empty if the run did not record them or they are hidden.
 */
export type TurnModel = ReturnType<typeof readTurnPage>;

/** The turn of the arm's reference, or else of the baseline; none for an arm that differs from the baseline in settings alone. */
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

function answeredOther(turn: DisplayTurn, other: DisplayTurn | undefined): AnsweredTurn | undefined {
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
