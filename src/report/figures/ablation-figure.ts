import { type Figure } from '../../render/figure.ts';
import type { Comparison, RunResults } from '../../store/records/results.ts';
import { type ShownMetric, primaryMetric } from '../shown-metric.ts';
import { baselineArm, primaryArm } from '../compared-arms.ts';
import { isContender, namedArmEncoding } from './arm-marks.ts';
import { estimateFields, intervalLayer, inWords, nameAxis, quantity } from './figure-parts.ts';
import { capitalised, lossText, sortedDifferences } from './finding.ts';

const TICKS = [-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100];

/** `of 16 arms, 5 lose exact match against rag, most dki-gated, 62.2 [52.3, 71.2] points; …; no difference is shown with 10` */
function ablationFinding(compared: readonly Comparison[], against: string, quality: ShownMetric): string {
  const others = compared.filter(({ verdict }) => verdict !== 'identical');
  const { lower, higher, none } = sortedDifferences(others);
  if (others.length === 0) return `Nothing changes an answer of ${against}`;
  const clause = (verb: string, some: readonly Comparison[]): string[] => {
    const [first, ...rest] = some;
    if (first === undefined) return [];
    const most = rest.reduce((a, b) => (Math.abs(b.delta) > Math.abs(a.delta) ? b : a), first);
    const which = rest.length === 0 ? most.a : `most ${most.a}`;
    return [`${some.length} ${verb} ${quality.label}, ${which}, ${lossText(most, quality)}`];
  };
  const parts = [
    ...clause(lower.length === 1 ? 'loses' : 'lose', lower),
    ...clause(higher.length === 1 ? 'gains' : 'gain', higher),
    ...(none.length === 0 ? [] : [`${none.length} show${none.length === 1 ? 's' : ''} no difference`]),
  ];
  const arms = others.length === 1 ? 'one other arm' : `${others.length} other arms`;
  return `Of ${arms} against ${against}, by their 95 % intervals: ${parts.join('; ')}`;
}

/**
 * Figure 3: the change of the primary metric for each part that is off or different, against `rag`, which is also the difference
 * to `dki` with all parts on if both are identical. Undefined if quality is unknown.
 */
export function ablationFigure(results: RunResults): Figure | undefined {
  const [baseline, primary] = [baselineArm(results.arms)?.arm, primaryArm(results.arms)?.arm];
  const quality = primaryMetric(results.run);
  const compared = results.comparisons.filter(
    ({ a, b, metric }) => metric === quality.name && b === baseline && isContender(results, a),
  );
  if (compared.length === 0) return undefined;
  const same = compared.some(({ a, verdict }) => a === primary && verdict === 'identical');
  const against = same ? `${primary!} with all parts on, which equals ${baseline!} bit by bit` : baseline!;
  const data = compared.map(({ a, delta, low, high }) => ({
    arm: a,
    ...estimateFields({ mean: delta, low, high }, quality.scale),
  }));
  const unit = quality.differenceUnit;
  const isShare = quality.unit === '%';
  // One part may cost eighty points and others one: both must be visible.
  const scale = { type: 'symlog', constant: isShare ? 1 : 0.1 };
  const title = `${capitalised(unit)} of ${quality.label}, logarithmic`;
  const x = quantity(title, scale, { grid: true, ...(isShare ? { values: TICKS } : {}) });
  const arms = data.map(({ arm }) => arm);
  const y = nameAxis('arm', arms);
  const marks = namedArmEncoding(results, arms);
  const words = data.map(({ arm, ...value }) => `${arm} ${inWords(value, unit)}`);
  return {
    id: 'ablation',
    title: `Figure 3. ${ablationFinding(compared, against, quality)}`,
    key: 'Points are differences, lines their 95 % intervals.',
    description: `Differences in ${quality.label} with 95 % intervals, paired by question: ${words.join('; ')}.`,
    data,
    spec: {
      // Leaves space for the longest name of an arm.
      width: 190,
      height: 20 * data.length,
      layer: [
        {
          data: { values: [{ none: 0 }] },
          mark: { type: 'rule', color: 'currentColor', strokeDash: [3, 3], opacity: 0.6 },
          encoding: { x: { ...x, field: 'none' } },
        },
        intervalLayer('x', x, { encoding: { y, color: marks.color }, mark: {} }),
        { mark: { type: 'point' }, encoding: { y, x: { ...x, field: 'value' }, ...marks } },
      ],
    },
  };
}
