import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { ComparisonQuery } from '../links.ts';

/** The two arms that a reader of a run most likely compares: joined KV or else the primary arm, with the baseline. */
export function usualPair(traits: readonly ArmTraits[], arms: readonly string[]) {
  const named = (matches: (arm: ArmTraits) => boolean): string | undefined =>
    traits.find((arm) => arms.includes(arm.name) && matches(arm))?.name;
  const b = named(({ comparison }) => comparison === 'baseline') ?? arms[1];
  const joined = named(({ comparison, injects, equivalence }) => {
    return comparison === 'planned' && injects === 'memories' && equivalence === 'tokens';
  });
  const a = joined ?? named(({ comparison }) => comparison === 'primary') ?? arms.find((arm) => arm !== b);
  return [a, b] as const;
}

/** The arms of two runs to compare: those that the query names, else by role, preferably the same arm of both runs. */
export function chosenArms(
  { a, b, armA: wantedA, armB: wantedB }: ComparisonQuery,
  traits: readonly ArmTraits[],
  [armsA, armsB]: readonly [readonly string[], readonly string[]],
): readonly [string, string] {
  const first = (wanted: readonly string[], arms: readonly string[]) =>
    wanted.find((arm) => arms.includes(arm)) ?? arms[0] ?? '';
  if (a === b) {
    const [usualA, usualB] = usualPair(traits, armsA);
    return [wantedA ?? usualA ?? '', wantedB ?? usualB ?? ''];
  }
  const inRole = (role: ArmTraits['comparison']) =>
    traits.flatMap(({ name, comparison }) => (comparison === role ? name : []));
  const common = armsA.filter((arm) => armsB.includes(arm));
  const armA = wantedA ?? first([wantedB ?? '', ...inRole('primary'), ...inRole('baseline'), ...common], armsA);
  return [armA, wantedB ?? first([armA, ...inRole('baseline')], armsB)];
}
