import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MachineKind } from '../../../store/records/machine-kind.ts';
import type { MachineDifference } from '../../../store/records/results/machines.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { MetricDefinition } from '../metrics/metric-definition.ts';
import { groupDifferenceP } from '../statistics/group-difference.ts';
import { holm } from '../statistics/holm.ts';
import { meanOf, observationsOf } from '../statistics/observations.ts';
import { partnersOf } from '../partners.ts';
import { turnsOfArm } from '../turns-of-run.ts';

/** The settings of the tests. */
export interface MachineTests {
  readonly machines: readonly MachineKind[];
  readonly arms: readonly ArmTraits[];
  readonly primary: MetricDefinition;
  readonly seed: number;
}

/**
 * Tests whether users whom one kind of machine asked have other values than users of another: the primary metric of every
 * arm that is no control, and first tokens of the primary arm against the baseline. Empty for one kind of machine.
 */
export function machineDifferences(
  answered: readonly AnsweredResult[],
  { machines, arms, primary, seed }: MachineTests,
): MachineDifference[] {
  if (machines.length < 2) return [];
  const machineOf = new Map(machines.flatMap(({ users }, index) => users.map((user) => [user, index] as const)));
  const tested = [
    ...arms
      .filter(({ control }) => control === null)
      .map(({ name }) => ({ arm: name, metric: primary.name, values: valuesOf(answered, name, primary) })),
    ...ratiosOf(answered, arms),
  ];
  const found = tested.flatMap(({ arm, metric, values }) => {
    const groups = machines.map((_, index) =>
      observationsOf(values.filter(({ userId }) => machineOf.get(userId) === index)),
    );
    const p = groupDifferenceP(groups, seed);
    const means = groups.map((group) => (group.values.length === 0 ? null : meanOf(group.values)));
    return p === null ? [] : [{ arm, metric, means, p }];
  });
  const adjusted = holm(found.map(({ p }) => p));
  return found.map((difference, index) => ({ ...difference, pAdjusted: adjusted[index]! }));
}

interface TurnValue {
  readonly userId: string;
  readonly value: number;
}

function valuesOf(answered: readonly AnsweredResult[], arm: string, metric: MetricDefinition): TurnValue[] {
  return turnsOfArm(answered, arm).flatMap((turn) => {
    const value = metric.of(turn);
    return value === null ? [] : [{ userId: turn.userId, value }];
  });
}

/** Logs of the ratios of first tokens, of the primary arm and the baseline, turn by turn; none where one of them did not run. */
function ratiosOf(
  answered: readonly AnsweredResult[],
  arms: readonly ArmTraits[],
): { readonly arm: string; readonly metric: string; readonly values: TurnValue[] }[] {
  const named = (comparison: ArmTraits['comparison']) => arms.find((arm) => arm.comparison === comparison)?.name;
  const [primary, baseline] = [named('primary'), named('baseline')];
  if (primary === undefined || baseline === undefined) return [];
  const turns = turnsOfArm(answered, primary);
  const others = partnersOf(turns, turnsOfArm(answered, baseline));
  const values = turns.flatMap((turn, place) => {
    const other = others.at(place);
    if (other === undefined) return [];
    return [{ userId: turn.userId, value: Math.log(turn.timings.firstToken / other.timings.firstToken) }];
  });
  return [{ arm: primary, metric: 'ttftLogRatioAll', values }];
}
