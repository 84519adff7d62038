import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { TurnKey } from '../../../store/records/turn-record.ts';
import { plannedTurns } from '../planned-sample.ts';
import { type Check, fail, pass, undecided } from './check.ts';

const itemKey = ({ itemId, repeat, turn }: Pick<TurnKey, 'itemId' | 'repeat' | 'turn'>): string =>
  `${repeat}/${turn}/${itemId}`;

/** Sample: each planned turn has one row, each arm runs equally often in each place, the A/A twin evaluates its prompts. */
export const sample: Check = ({ arms, answered, failed, plan }) => {
  if (plan.shard !== undefined) return undecided(`shard ${plan.shard} has only its own users: the merged run decides`);
  const all = [...answered, ...failed];
  const rows = Map.groupBy(all, ({ arm }) => arm);
  // Items that controls skip have fewer turns, and rotate apart from the others.
  const turnsOfItem = Map.groupBy(all, itemKey);
  // An arm that skips items leaves gaps in the order of the others.
  const hasGaps = plan.withoutEvidence > 0 && arms.some(({ retrieves }) => retrieves === 'evidence');
  const missing: string[] = [];
  const unbalanced: string[] = [];
  for (const arm of arms) {
    const own = rows.get(arm.name) ?? [];
    const wanted = plannedTurns([arm], plan);
    const distinct = new Set(own.map(itemKey)).size;
    if (distinct !== wanted || own.length !== wanted) {
      missing.push(`${arm.name} has ${own.length} rows of ${distinct} turns instead of ${wanted}`);
    }
    for (const [size, alike] of Map.groupBy(own, (row) => turnsOfItem.get(itemKey(row))!.length)) {
      const places = Array.from({ length: size }, (_, place) => alike.filter((row) => row.position === place).length);
      const [most, least] = [Math.max(...places), Math.min(...places)];
      // An unfinished round of the mirrored order accounts for a difference of 2.
      if (!hasGaps && most - least > 2) {
        unbalanced.push(`${arm.name} stood ${most} times in one place of the order and ${least} times in another`);
      }
    }
  }
  const isIdle = ({ name }: ArmTraits) => answered.some(({ arm, tokens }) => arm === name && !(tokens.evaluated > 0));
  const idleTwins = arms.filter((arm) => arm.control === 'twin' && isIdle(arm));
  const idle = idleTwins.map(({ name }) => `${name} answered without evaluating its prompt`);
  const problems = [...missing, ...unbalanced, ...idle];
  if (problems.length > 0) return fail(problems.join('; '));
  const planned = plannedTurns(arms, plan);
  const evidence = `${all.length} of ${planned} planned turns are rows, ${failed.length} of them failed`;
  return pass(evidence, `1 row of ${planned} missing or double`);
};
