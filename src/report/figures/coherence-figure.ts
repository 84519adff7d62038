import type { RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { armCurves, curvesInWords, type CurvePoint } from './arm-curves.ts';
import { isContender } from './arm-style.ts';
import { curvesFinding } from './curve-finding.ts';
import { capitalised } from './finding.ts';
import { estimateFields, type Figure, figureOf, MEANS } from './figure.ts';

/** Figure 6: recall by depth of the conversation; undefined if quality is unknown. */
export function coherenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const conditions = results.conditions.filter(({ arm, place }) => place === null && isContender(results, arm));
  const data: CurvePoint[] = conditions
    .toSorted((a, b) => a.condition - b.condition)
    .flatMap(({ arm, condition, metrics }) => {
      const quality = primary.of(metrics);
      if (quality === null) return [];
      return [{ panel: '', arm, at: String(condition), ...estimateFields(quality, primary.scale) }];
    });
  if (data.length === 0) return undefined;
  const finding = curvesFinding(results, {
    conditions,
    quality: (metrics) => primary.of(metrics),
    ...{ scale: primary.scale, label: primary.label, unit: primary.unit },
    range: (first, last) => `from turn ${first} to turn ${last} of the conversation`,
  });
  return figureOf(results, {
    id: 'coherence',
    title: `Figure 6. ${capitalised(finding)}`,
    key: MEANS,
    description: `${primary.title} with 95 % intervals, by turn of the conversation. ${curvesInWords(data, primary.unit)}.`,
    data,
    spec: armCurves(results, data, { x: 'Turn of the conversation', y: `${primary.title}, ${primary.unit}` }),
  });
}
