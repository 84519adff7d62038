import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { AnsweredResult, FailedTurn } from '../../../store/records/turn-record.ts';
import { type Check, decided, type RunSample, undecided } from './check.ts';

interface ArmRows {
  readonly arm: ArmTraits;
  readonly turns: readonly (AnsweredResult | FailedTurn)[];
}

/**
 * Sample: every arm was asked every question of the plan as often as planned, and each turn is a row, failed ones included.
 * Arms come equally often at each place of the order, and the twin evaluated its prompts itself.
 */
export const sample: Check = ({ arms, answered, failed, plan }) => {
  if (plan.shard !== undefined) {
    return undecided('sample', `shard ${plan.shard} has its own users alone: merge decides`);
  }
  const turns = Map.groupBy([...answered, ...failed], ({ arm }) => arm);
  const rows = arms.map((arm): ArmRows => ({ arm, turns: turns.get(arm.name) ?? [] }));
  const problems = [
    ...rows.flatMap(({ arm, turns: own }) => missingRows(arm, own, plan)),
    ...unbalancedArms(rows, plan),
    ...arms
      .filter(
        ({ name, control }) =>
          control === 'twin' && answered.some((turn) => turn.arm === name && !(turn.tokens.evaluated > 0)),
      )
      .map(({ name }) => `${name} answered without evaluating its prompt: it is no run of its own`),
  ];
  const evidence = `${answered.length + failed.length} of ${plannedTurns(arms, plan)} planned turns are rows, ${failed.length} of them failed`;
  return decided('sample', problems.length === 0, problems.length === 0 ? evidence : problems.join('; '));
};

/** The extent of a run, from its plan and its data. */
export function plannedSample({ dataset, plan }: Pick<RunRecord, 'dataset' | 'plan'>): RunSample {
  const { repeats = 1 } = plan.settings as { readonly repeats?: number };
  const { shard } = plan.settings;
  const extent = { items: dataset.items, withoutEvidence: dataset.withoutEvidence ?? 0, repeats };
  return shard === undefined ? extent : { ...extent, shard };
}

/** The turns that all these arms take. */
export function plannedTurns(arms: readonly ArmTraits[], { items, withoutEvidence, repeats }: RunSample): number {
  const perRepeat = arms.map(({ retrieves }) => (retrieves === 'evidence' ? items - withoutEvidence : items));
  return repeats * perRepeat.reduce((sum, turns) => sum + turns, 0);
}

function missingRows(arm: ArmTraits, turns: ArmRows['turns'], plan: RunSample): string[] {
  const wanted = plannedTurns([arm], plan);
  const distinct = new Set(turns.map(({ repeat, turn, itemId }) => `${repeat}/${turn}/${itemId}`)).size;
  return distinct === wanted && turns.length === wanted
    ? []
    : [`${arm.name} has ${turns.length} rows of ${distinct} turns in place of ${wanted}`];
}

/** Arms that come at one place of the order more often than at another, by more than one round of a mirrored order. */
function unbalancedArms(rows: readonly ArmRows[], { withoutEvidence }: RunSample): string[] {
  // An arm that skips items leaves gaps in the order.
  if (withoutEvidence > 0 && rows.some(({ arm }) => arm.retrieves === 'evidence')) return [];
  return rows.flatMap(({ arm: { name }, turns }) => {
    const places = new Array<number>(rows.length).fill(0);
    for (const { position } of turns) places[position]!++;
    const [most, least] = [Math.max(...places), Math.min(...places)];
    return most - least > 2
      ? [`${name} stood ${most} times in one place of the order and ${least} times in another`]
      : [];
  });
}
