import { onceFor } from '../../../base/once-for.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { MetricDefinition } from '../metrics/metric-definition.ts';
import { minimumDetectableEffect } from '../statistics/power.ts';
import { paired, perItem } from '../statistics/per-item.ts';
import { pairedTotals } from '../statistics/paired-totals.ts';
import { signFlipP } from '../statistics/sign-flip.ts';
import { judgeFamily, marginOf } from '../statistics/verdict.ts';
import { partnersOf } from '../partners.ts';
import type { ComparedArms } from './compared-arms.ts';
import { isPooled } from './design-effects.ts';
import { asDifference, gainOf, pooledEffect } from './paired-quality.ts';
import { tally } from './tally.ts';

/** Arms that were named before anything was measured. */
export function isPlanned({ comparison }: Pick<ArmTraits, 'comparison'>): boolean {
  return comparison === 'planned' || comparison === 'primary';
}

/** Every answer the same, and every probability the same bits as the text's. */
const areIdentical = onceFor((a: readonly AnsweredResult[]) =>
  onceFor((b: readonly AnsweredResult[]): boolean => {
    if (a.length !== b.length) return false;
    const others = partnersOf(a, b);
    return a.every((turn, place) => {
      const other = others.at(place);
      return (
        other?.answer.text === turn.answer.text &&
        turn.observed.sequenceSha256 === other.observed.sequenceSha256 &&
        turn.observed.parity?.bitwiseEqual === true &&
        other.observed.parity?.bitwiseEqual === true
      );
    });
  }),
);

/** One metric of every arm against the baseline, a family of tests of the planned arms. */
export function qualityComparisons(
  metric: MetricDefinition,
  { byArm, others, baseline, seed }: ComparedArms,
  { margin, bitwise }: { readonly margin: number; readonly bitwise: boolean },
): Comparison[] {
  const base = byArm.get(baseline)!;
  const baseValues = perItem(base, metric);
  const compared = others.flatMap((traits) => {
    const turns = byArm.get(traits.name)!;
    const pairs = paired(perItem(turns, metric), baseValues);
    return pairs.a.length === 0 ? [] : [{ traits, pairs, same: bitwise && areIdentical(turns)(base) }];
  });
  const pool = compared.filter(({ traits }) => isPooled(traits));
  const effect = pooledEffect((pool.length > 0 ? pool : compared).map(({ pairs }) => pairs)) ?? 1;
  const measured = compared.map(({ traits, pairs, same }) => {
    const counts = tally(pairs, metric.direction);
    const gain = gainOf(pairs, metric, effect);
    const p = isPlanned(traits) ? signFlipP(pairedTotals(pairs).differences, seed) : null;
    return { traits, counts, member: { gain, users: counts.users, identical: same, p, effect: metric.unit === '%' ? effect : undefined } }; // prettier-ignore
  });
  const judged = judgeFamily(
    measured.map(({ member }) => member),
    marginOf(metric, margin),
  );
  return measured.map(({ traits, counts, member: { gain, identical: same, p } }, place) => ({
    a: traits.name,
    b: baseline,
    metric: metric.name,
    ...asDifference(same ? { delta: 0, interval: { low: 0, high: 0 } } : gain, metric),
    ...counts,
    detectable: (Number.isFinite(gain.error) && minimumDetectableEffect(gain)) || null,
    p,
    ...judged[place]!,
  }));
}
