import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MultiTurnResults } from '../../../store/records/run-results.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import { countUsers, type Pair, perItem } from '../statistics/observations.ts';
import { pairedDelta } from '../statistics/paired-quality.ts';
import { memoryBytes } from './kv-method-results.ts';
import { meanOfKnown } from './metric-estimates.ts';

/** What each arm keeps of one context over its turns, and the change from the first turn to the last. */
export function multiTurnResults(
  answered: Turns,
  arms: readonly ArmTraits[],
  primary: MetricDefinition,
): MultiTurnResults[] {
  const conditions = new Set(answered.flatMap(({ item }) => item.condition ?? []));
  const [first, last] = [Math.min(...conditions), Math.max(...conditions)];
  return arms.map(({ name }) => {
    const turns = turnsOfArm(answered, name);
    return {
      arm: name,
      promptBytes: meanOfKnown(turns, memoryBytes),
      repairedTokens: meanOfKnown(turns, ({ account }) => account.repaired),
      change: change(turns, primary, { first, last }),
    };
  });
}

/** The last turn minus the first, paired by user; null without pairs. */
function change(turns: Turns, metric: MetricDefinition, { first, last }: Record<'first' | 'last', number>) {
  const valuesOn = (condition: number) =>
    perItem(turns, (turn) => (turn.item.condition === condition ? metric.of(turn) : null));
  const before = new Map(valuesOn(first).map(({ userId, value }) => [userId, value]));
  const pairs = valuesOn(last).flatMap(({ userId, value }): Pair[] => {
    const b = before.get(userId);
    return b === undefined ? [] : [{ userId, a: value, b }];
  });
  if (first >= last || pairs.length === 0) return null;
  return { ...pairedDelta(pairs, metric), n: pairs.length, users: countUsers(pairs) };
}
