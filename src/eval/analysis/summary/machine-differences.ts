import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MachineDifference, MachineKind } from '../../../store/records/run-description.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import { holm } from '../statistics/holm.ts';
import { mean, type Observation, sum, unitTotals } from '../statistics/observations.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';

/** Tests whether the primary metric, and the primary arm's TTFT ÷ the baseline's, differ between kinds of machine. */
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

const PERMUTATIONS = 10_000;

/**
 * p value of "the groups do not differ": the sum of squares between groups of user means under random permutations of
 * users, (extreme + 1) ÷ (permutations + 1). Null for fewer than two groups.
 * @see Pitman 1937, "Significance tests which may be applied to samples from any populations"
 */
export function groupDifferenceP(groups: readonly (readonly Observation[])[], seed: number): number | null {
  const means = groups
    .map((group) => {
      const { sums, counts } = unitTotals(group);
      return sums.map((own, unit) => own / counts[unit]!);
    })
    .filter(({ length }) => length > 0);
  if (means.length < 2) return null;
  const sizes = means.map(({ length }) => length);
  let users = means.flat();
  const observed = spread(users, sizes);
  // Sums of the same numbers in another order may differ in their last bits.
  const threshold = observed - 1e-12 * (1 + Math.abs(observed));
  const random = new SeededRandom(seed);
  let extreme = 0;
  for (let permutation = 0; permutation < PERMUTATIONS; permutation++) {
    users = random.shuffled(users);
    if (spread(users, sizes) >= threshold) extreme++;
  }
  return (extreme + 1) / (PERMUTATIONS + 1);
}

/** The sum of squares between consecutive groups of these sizes, up to a constant that no permutation changes. */
function spread(values: readonly number[], sizes: readonly number[]): number {
  let start = 0;
  return sum(
    sizes.map((size) => {
      const own = sum(values.slice(start, start + size));
      start += size;
      return own ** 2 / size;
    }),
  );
}
