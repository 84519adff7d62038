import type { RunResults } from '../../records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { armCurves, curvesInWords, type CurvePoint } from './arm-curves.ts';
import { isContender } from './arm-style.ts';
import { estimateFields, type Figure, figureOf } from './figure.ts';

/** Figure 6: recall by depth of the conversation; undefined if quality is unknown. */
export function coherenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const data: CurvePoint[] = results.conditions
    .filter(({ arm, place }) => place === null && isContender(results, arm))
    .sort((a, b) => a.condition - b.condition)
    .flatMap(({ arm, condition, metrics }) => {
      const quality = primary.of(metrics);
      if (quality === null) return [];
      return [{ panel: '', arm, at: String(condition), ...estimateFields(quality, primary.scale) }];
    });
  if (data.length === 0) return undefined;
  return figureOf(results, {
    id: 'coherence',
    title: 'Figure 6. Recall by depth of the conversation',
    description: `${primary.title} with 95 % intervals, by turn of the conversation. ${curvesInWords(data, primary.unit)}.`,
    data,
    spec: armCurves(results, data, { x: 'Turn of the conversation', y: `${primary.title}, ${primary.unit}` }),
  });
}
