import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { Comparison, RunResults } from '../../store/records/results.ts';
import { type ShownMetric, primaryMetric } from '../shown-metric.ts';
import { baselineArm } from '../compared-arms.ts';
import { armEncoding } from './arm-marks.ts';
import { distinct, estimateFields, facets, intervalLayer, layer, MEANS, quantity } from './figure-parts.ts';
import { listed, lossText, sortedDifferences } from './finding.ts';

/** `against rag, exact match is lower at α = 0 (89.0 [81.7, 93.6] points), 0.2 and 0.4; the same bit by bit at 1; …` */
function alphaFinding({ arms, comparisons }: RunResults, quality: ShownMetric): string {
  const baseline = baselineArm(arms)?.arm;
  const alphas = new Map(arms.map(({ arm, traits }) => [arm, traits.settings.alpha]));
  const compared = comparisons
    .filter(({ a, b, metric }) => metric === quality.name && b === baseline && alphas.get(a) !== undefined)
    .sort((one, other) => alphas.get(one.a)! - alphas.get(other.a)!);
  if (compared.length === 0) return `${quality.title} by α; no arms were compared`;
  const { identical, lower, higher, none } = sortedDifferences(compared);
  const at = (some: readonly Comparison[]): string => listed(some.map(({ a }) => String(alphas.get(a)!)));
  const sized = ([first, ...rest]: readonly Comparison[]): string =>
    `α = ${listed([`${alphas.get(first!.a)!} (by ${lossText(first!, quality)})`, ...rest.map(({ a }) => String(alphas.get(a)!))])}`;
  const parts = [
    ...(lower.length === 0 ? [] : [`lower at ${sized(lower)}`]),
    ...(higher.length === 0 ? [] : [`higher at ${sized(higher)}`]),
    ...(identical.length === 0 ? [] : [`the same bit by bit at ${at(identical)}`]),
    ...(none.length === 0 ? [] : [`not shown to differ at ${at(none)}`]),
  ];
  return `Against ${baseline!}, ${quality.label} is ${parts.join('; ')}`;
}

/** Figure 4: recall and fluency by α; undefined without arms that vary it, and if quality is unknown. */
export function alphaFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const panels = [
    { metric: primary.name, panel: `${primary.title}, ${primary.unit}`, scale: primary.scale },
    { metric: 'goldLogProbability', panel: 'Gold answer, ln p', scale: 1 },
    { metric: 'freeLogProbability', panel: 'Own answer, ln p per token', scale: 1 },
  ] as const;
  const varied = results.arms
    .flatMap((arm) => {
      const { alpha } = arm.traits.settings;
      return alpha === undefined ? [] : [{ arm, alpha }];
    })
    .sort((a, b) => a.alpha - b.alpha);
  const rag = baselineArm(results.arms);
  const shown = panels.filter(({ metric }) => varied.some(({ arm }) => (arm.metrics[metric] ?? null) !== null));
  const data = shown.flatMap(({ metric, panel, scale }) => [
    ...varied.flatMap(({ arm: { traits, metrics }, alpha }) => {
      const estimate = metrics[metric] ?? null;
      return estimate === null ? [] : [{ panel, arm: traits.base, alpha, ...estimateFields(estimate, scale) }];
    }),
    ...(rag?.metrics[metric]
      ? [{ panel, arm: rag.arm, alpha: null, ...estimateFields(rag.metrics[metric], scale) }]
      : []),
  ]);
  if (data.length === 0) return undefined;
  const { color, shape } = armEncoding(results, distinct(data.map(({ arm }) => arm)));
  const words = shown.map(({ panel }) => {
    const points = data.filter((row) => row.panel === panel && row.alpha !== null);
    return `${panel}: ${points.map(({ alpha, value }) => `${formatNumber(value, 2)} at ${alpha!}`).join(', ')}`;
  });
  const values = varied.map(({ alpha }) => alpha);
  const x = { field: 'alpha', ...quantity('α, which multiplies the values of injected memories', {}, { values }) };
  const y = { field: 'value', ...quantity(null, {}, { tickCount: 4 }) };
  return {
    id: 'alpha',
    title: `Figure 4. ${alphaFinding(results, primary)}`,
    key: `${MEANS} The dashed line is rag.`,
    description: `By α, with 95 % intervals; the dashed line is rag. ${words.join('; ')}.`,
    data,
    spec: {
      resolve: { scale: { y: 'independent' } },
      ...facets('panel', distinct(data.map(({ panel }) => panel)), 1, {
        width: PANEL_WIDTH,
        height: 105,
        encoding: { color },
        layer: [
          {
            ...intervalLayer('y', y, { encoding: { x } }),
            transform: [{ filter: 'isValid(datum.alpha) && isValid(datum.low)' }],
          },
          layer('isValid(datum.alpha)', 'line', { x, y }),
          layer('isValid(datum.alpha)', 'point', { x, y, shape }),
          layer('!isValid(datum.alpha)', { type: 'rule', strokeDash: [5, 4] }, { y }),
        ],
      }),
    },
  };
}
