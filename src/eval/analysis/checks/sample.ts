import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { TurnResult } from '../../../store/records/turn-result.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import { type Check, decided, type RunSample, undecided } from './check.ts';

/**
 * Sample: every arm was asked every question of the plan as often as planned, and each turn is a row, failed ones too. Arms
 * stand equally often in each place of the order, and the twin evaluated its prompts itself.
 */
export const sample: Check = ({ arms, answered, failed, plan }) => {
  if (plan.shard !== undefined) {
    return undecided('sample', `shard ${plan.shard} has its own users alone: merge decides`);
  }
  const rows = arms.map((arm) => ({
    arm,
    turns: [...turnsOfArm(answered, arm.name), ...failed.filter((turn) => turn.arm === arm.name)],
  }));
  const problems = [
    ...rows.flatMap(({ arm, turns }) => missing(arm, turns, plan)),
    ...unbalanced(rows, plan),
    ...arms
      .filter(({ control }) => control === 'twin')
      .filter(({ name }) => turnsOfArm(answered, name).some(({ tokens }) => !(tokens.evaluated > 0)))
      .map(({ name }) => `${name} answered without evaluating its prompt: it is no run of its own`),
  ];
  const planned = plannedTurns(arms, plan);
  return problems.length === 0
    ? decided(
        'sample',
        true,
        `${answered.length + failed.length} of ${planned} planned turns are rows, ${failed.length} of them failed`,
      )
    : decided('sample', false, problems.join('; '));
};

/** The extent of a run, by its plan and its data. */
export function plannedSample({ dataset, plan }: Pick<RunRecord, 'dataset' | 'plan'>): RunSample {
  const { repeats = 1 } = plan.settings as { readonly repeats?: number };
  const { shard } = plan.settings;
  const extent = { items: dataset.items, withoutEvidence: dataset.withoutEvidence ?? 0, repeats };
  return shard === undefined ? extent : { ...extent, shard };
}

/** Turns of all these arms. */
export function plannedTurns(arms: readonly ArmTraits[], { items, withoutEvidence, repeats }: RunSample): number {
  const asked = arms.map(({ retrieves }) => (retrieves === 'evidence' ? items - withoutEvidence : items));
  return repeats * asked.reduce((sum, ofArm) => sum + ofArm, 0);
}

function missing(arm: ArmTraits, turns: readonly TurnResult[], plan: RunSample): string[] {
  const wanted = plannedTurns([arm], plan);
  const rounds = [...Map.groupBy(turns, ({ repeat, turn }) => `${repeat}/${turn}`).values()];
  const distinct = rounds.reduce((sum, some) => sum + new Set(some.map(({ itemId }) => itemId)).size, 0);
  return distinct === wanted && turns.length === wanted
    ? []
    : [`${arm.name} has ${turns.length} rows of ${distinct} turns in place of ${wanted}`];
}

/** Arms that stand in some place more often than in another, by more than one round of an order that is mirrored. */
function unbalanced(
  rows: readonly { readonly arm: ArmTraits; readonly turns: readonly TurnResult[] }[],
  { withoutEvidence }: RunSample,
): string[] {
  // Who is not asked every item leaves gaps in the order.
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
