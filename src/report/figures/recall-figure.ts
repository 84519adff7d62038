import type { RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { armCurves, curvesInWords, type CurvePoint } from './arm-curves.ts';
import { curvesFinding } from './curve-finding.ts';
import { capitalised } from './finding.ts';
import { isContender } from './arm-style.ts';
import { estimateFields, type Figure, figureOf, MEANS } from './figure.ts';

const panels = [
  { place: null, panel: 'All evidence' },
  { place: 'early', panel: 'Evidence in the oldest third' },
  { place: 'middle', panel: 'Evidence in the middle third' },
  { place: 'late', panel: 'Evidence in the newest third' },
] as const;

/** Figure F3: recall by number of memories and place of the evidence; undefined if quality is unknown. */
export function recallFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const data: CurvePoint[] = panels.flatMap(({ place, panel }) =>
    results.conditions
      .filter((one) => one.place === place && isContender(results, one.arm))
      .sort((a, b) => a.condition - b.condition)
      .flatMap(({ arm, condition, metrics }) => {
        const quality = primary.of(metrics);
        if (quality === null) return [];
        return [{ panel, arm, at: String(condition), ...estimateFields(quality, primary.scale) }];
      }),
  );
  if (data.length === 0) return undefined;
  const overall = data.filter(({ panel }) => panel === panels[0].panel).map((point) => ({ ...point, panel: '' }));
  const finding = curvesFinding(results, {
    conditions: results.conditions.filter(({ arm, place }) => place === null && isContender(results, arm)),
    quality: (metrics) => primary.of(metrics),
    ...{ scale: primary.scale, label: primary.label, unit: primary.unit },
    range: (first, last) => `from ${first} to ${last} memories`,
  });
  return figureOf(results, {
    id: 'recall',
    title: `Figure F3. ${capitalised(finding)}`,
    key: MEANS,
    description: `${primary.title} with 95 % intervals, by number of memories. ${curvesInWords(overall, primary.unit)}.`,
    data,
    spec: armCurves(results, data, { x: 'Memories', y: `${primary.title}, ${primary.unit}` }),
  });
}
