import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MachineDifference, MachineKind } from '../../../store/records/run-description.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../arm-turns.ts';
import type { MetricDefinition } from '../metrics/metrics.ts';
import { groupDifferenceP } from '../statistics/group-difference.ts';
import { holm } from '../statistics/holm.ts';
import { mean } from '../statistics/observations.ts';

/**
 * Tests whether users of one kind of machine have other values than users of another: the primary metric of every arm that is
 * not a control, and times to first token of the primary arm against the baseline. Empty for one kind of machine.
 */
export function machineDifferences(
  answered: Turns,
  machines: readonly MachineKind[],
  settings: { readonly arms: readonly ArmTraits[]; readonly primary: MetricDefinition; readonly seed: number },
): MachineDifference[] {
  if (machines.length < 2) return [];
  const { arms, primary, seed } = settings;
  const named = (comparison: ArmTraits['comparison']) => arms.find((arm) => arm.comparison === comparison)?.name;
  const counterpart = counterpartIn(turnsOfArm(answered, named('baseline')));
  const logRatio = (turn: AnsweredResult): number | null => {
    const other = counterpart(turn);
    return other === undefined ? null : Math.log(turn.timings.firstToken / other.timings.firstToken);
  };
  const tested = [
    ...arms
      .filter(({ control }) => control === null)
      .map(({ name }) => ({ arm: name, metric: primary.name, value: primary.of })),
    { arm: named('primary') ?? '', metric: 'ttftLogRatioAll', value: logRatio },
  ];
  const found = tested.flatMap(({ arm, metric, value }) => {
    const values = turnsOfArm(answered, arm).flatMap((turn) => {
      const own = value(turn);
      return own === null ? [] : [{ userId: turn.userId, value: own }];
    });
    const groups = machines.map(({ users }) => values.filter(({ userId }) => users.includes(userId)));
    const p = groupDifferenceP(groups, seed);
    const means = groups.map((group) => (group.length === 0 ? null : mean(group.map(({ value }) => value))));
    return p === null ? [] : [{ arm, metric, means, p }];
  });
  const adjusted = holm(found.map(({ p }) => p));
  return found.map((difference, index) => ({ ...difference, pAdjusted: adjusted[index]! }));
}
