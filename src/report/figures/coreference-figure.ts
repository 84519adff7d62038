import type { RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { isContender, namedArmEncoding } from './arm-style.ts';
import { curvesFinding } from './curve-finding.ts';
import { capitalised } from './finding.ts';
import { estimateFields, type Figure, figureOf, inlineData, inWords, MEANS } from './figure.ts';

const WIDTH = 240;
const HEIGHT_AN_ARM = 20;

const panels: Readonly<Record<number, string>> = { 1: 'One memory answers', 2: 'The previous memory is needed, too' };

const shortPanels: Readonly<Record<number, string>> = {
  1: 'questions that one memory answers',
  2: 'those that need the previous one, too',
};

/** Figure 10: the primary metric by arm if one memory answers, and if the previous one is needed, too; undefined if quality is unknown. */
export function coreferenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const conditions = results.conditions.filter(({ arm, place }) => place === null && isContender(results, arm));
  const data = conditions
    .toSorted((a, b) => a.condition - b.condition)
    .flatMap(({ arm, condition, metrics }) => {
      const quality = primary.of(metrics);
      return quality === null
        ? []
        : [{ panel: panels[condition] ?? '', arm, ...estimateFields(quality, primary.scale) }];
    });
  if (data.length === 0) return undefined;
  const arms = [...new Set(data.map(({ arm }) => arm))];
  const x = {
    type: 'quantitative' as const,
    ...(primary.unit === '%' ? { scale: { domain: [0, 100] } } : {}),
    axis: { title: `${primary.title}, ${primary.unit}`, grid: true, tickCount: 5 },
  };
  const y = { field: 'arm', type: 'nominal' as const, sort: arms, axis: { title: null, grid: true, labelLimit: 0 } };
  const finding = curvesFinding(results, {
    conditions,
    quality: (metrics) => primary.of(metrics),
    ...{ scale: primary.scale, label: primary.label, unit: primary.unit },
    range: (first, last) => `from ${shortPanels[first] ?? ''} to ${shortPanels[last] ?? ''}`,
  });
  const marks = namedArmEncoding(results, arms);
  const words = data.map(
    ({ panel, arm, ...value }) => `${panel.toLowerCase()}, ${arm} ${inWords(value, primary.unit)}`,
  );
  return figureOf(results, {
    id: 'coreference',
    title: `Figure 10. ${capitalised(finding)}`,
    key: MEANS,
    description: `${primary.title} with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: {
      data: inlineData(data),
      facet: {
        field: 'panel',
        type: 'nominal',
        sort: Object.values(panels),
        title: null,
        header: { labelAnchor: 'start' },
      },
      columns: 1,
      spacing: 14,
      spec: {
        width: WIDTH,
        height: HEIGHT_AN_ARM * arms.length,
        layer: [
          {
            transform: [{ filter: 'isValid(datum.low)' }],
            mark: { type: 'rule' },
            encoding: { y, x: { ...x, field: 'low' }, x2: { field: 'high' }, color: marks.color },
          },
          { mark: { type: 'point' }, encoding: { y, x: { ...x, field: 'value' }, ...marks } },
        ],
      },
    },
  });
}
