import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MachineDifference, MachineKind } from '../../../store/records/run-description.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../arm-turns.ts';
import type { MetricDefinition } from '../metrics/metrics.ts';
import { groupDifferenceP } from '../statistics/group-difference.ts';
import { holm } from '../statistics/holm.ts';
import { mean, type Observation } from '../statistics/observations.ts';

interface TestedValues {
  readonly arm: string;
  readonly metric: string;
  readonly values: readonly Observation[];
}

function metricValues(answered: Turns, arm: string, metric: MetricDefinition): TestedValues {
  const values = turnsOfArm(answered, arm).flatMap((turn) => {
    const value = metric.of(turn);
    return value === null ? [] : [{ userId: turn.userId, value }];
  });
  return { arm, metric: metric.name, values };
}

/** Log-ratios of times to first token, primary arm to baseline, turn by turn; empty if one of them did not run. */
function latencyRatios(answered: Turns, arms: readonly ArmTraits[]): TestedValues[] {
  const named = (comparison: ArmTraits['comparison']) => arms.find((arm) => arm.comparison === comparison)?.name;
  const [primary, baseline] = [named('primary'), named('baseline')];
  if (primary === undefined || baseline === undefined) return [];
  const counterpart = counterpartIn(turnsOfArm(answered, baseline));
  const values = turnsOfArm(answered, primary).flatMap((turn) => {
    const other = counterpart(turn);
    if (other === undefined) return [];
    return [{ userId: turn.userId, value: Math.log(turn.timings.firstToken / other.timings.firstToken) }];
  });
  return [{ arm: primary, metric: 'ttftLogRatioAll', values }];
}

/**
 * Tests whether users of one kind of machine have other values than users of another: the primary metric of every arm that is
 * not a control, and times to first token of the primary arm against the baseline. Empty for one kind of machine.
 */
export function machineDifferences(
  answered: Turns,
  machines: readonly MachineKind[],
  {
    arms,
    primary,
    seed,
  }: { readonly arms: readonly ArmTraits[]; readonly primary: MetricDefinition; readonly seed: number },
): MachineDifference[] {
  if (machines.length < 2) return [];
  const tested = [
    ...arms.filter(({ control }) => control === null).map(({ name }) => metricValues(answered, name, primary)),
    ...latencyRatios(answered, arms),
  ];
  const found = tested.flatMap(({ arm, metric, values }) => {
    const groups = machines.map(({ users }) => values.filter(({ userId }) => users.includes(userId)));
    const p = groupDifferenceP(groups, seed);
    const means = groups.map((group) => (group.length === 0 ? null : mean(group.map(({ value }) => value))));
    return p === null ? [] : [{ arm, metric, means, p }];
  });
  const adjusted = holm(found.map(({ p }) => p));
  return found.map((difference, index) => ({ ...difference, pAdjusted: adjusted[index]! }));
}
