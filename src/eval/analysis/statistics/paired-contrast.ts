import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import { countUsers, mean, type Pair, sum } from './observations.ts';
import { gain, pooledEffect } from './paired-quality.ts';
import { minimumDetectableEffect } from './verdict.ts';
import { signFlipP } from './p-values.ts';

/** The paired differences of two kinds of item. */
export type PairGroups = readonly [readonly Pair[], readonly Pair[]];

export type PairedContrast = ReturnType<typeof pairedContrast>;

/**
 * Each user's part in the contrast: the sum over its items of ±(d − centre) ÷ items of the group. `centre` of a group is
 * subtracted from its differences, so that a user with more items of one group has no part by that alone.
 */
function userParts(groups: readonly (readonly Pair[])[], centres: readonly number[]): number[] {
  const parts = new Map<string, number>();
  for (const [place, pairs] of groups.entries()) {
    const weight = (place === 0 ? 1 : -1) / pairs.length;
    for (const { userId, a, b } of pairs) {
      parts.set(userId, (parts.get(userId) ?? 0) + weight * (a - b - centres[place]!));
    }
  }
  return [...parts.values()];
}

/**
 * Compares two paired differences. The interval combines those of the two groups (square-and-add), and is widened where
 * users have more effect on the contrast than on its two parts. p flips the signs of users' parts around the common
 * difference.
 * @param groups both with items
 * @see Newcombe 1998; Zou and Donner 2008, "Construction of confidence limits about effect measures"
 */
export function pairedContrast(groups: PairGroups, unit: MetricDeclaration['unit'], seed: number) {
  const [first, second] = groups.map((pairs) => gain(pairs, { unit, direction: 'higher' }, pooledEffect([pairs])));
  const error = Math.hypot(first!.error, second!.error);
  const parts = userParts(groups, [first!.delta, second!.delta]);
  const clustered = Math.sqrt((sum(parts.map((part) => part ** 2)) * parts.length) / (parts.length - 1));
  // One user has no spread over users, and equal differences have none at all.
  const widening = parts.length > 1 && error > 0 ? Math.max(1, clustered / error) : 1;
  const delta = first!.delta - second!.delta;
  const reach = (one: number, other: number): number => widening * Math.hypot(one, other);
  const all = groups.flat();
  const common = mean(all.map(({ a, b }) => a - b));
  return {
    /** The mean of a − b in the first group, minus that in the second. */
    delta,
    /** 95 %. */
    interval: {
      low: delta - reach(first!.delta - first!.interval.low, second!.interval.high - second!.delta),
      high: delta + reach(first!.interval.high - first!.delta, second!.delta - second!.interval.low),
    },
    n: all.length,
    /** Users with items in either group. */
    users: countUsers(all),
    /** Two-sided, of "both groups have the same difference". */
    p: signFlipP({ sums: userParts(groups, [common, common]) }, seed),
    /** The smallest true contrast shown with power 0.8; null if no pair differs. */
    detectable: (Number.isFinite(error) && minimumDetectableEffect({ error: widening * error })) || null,
  };
}

/**
 * The smallest contrast of shares shown with power 0.8 by so many independent items of each group, if the two arms differ
 * on a share `discordance` of them; null without items.
 */
export function detectableContrast(items: readonly number[], discordance: number): number | null {
  if (items.some((count) => count === 0)) return null;
  return minimumDetectableEffect({ error: Math.sqrt(sum(items.map((count) => discordance / count))) });
}
