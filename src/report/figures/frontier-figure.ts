import type { RunResults } from '../../records/results.ts';
import { armEncoding, isContender } from './arm-style.ts';
import { estimateFields, type Figure, figureOf, inWords, inlineData } from './figure.ts';
import { PANEL_WIDTH } from './theme.ts';

/** Figure F1: exact match against time to first token, by arm; undefined if either is unknown. */
export function frontierFigure(results: RunResults): Figure | undefined {
  const data = results.arms.flatMap(({ arm, metrics: { exactMatch, ttftMs } }) => {
    if (!isContender(results, arm) || exactMatch === null || ttftMs === null) return [];
    const [quality, time] = [estimateFields(exactMatch, 100), estimateFields(ttftMs)];
    return [
      {
        ...{ arm, exactMatch: quality.value, exactMatchLow: quality.low, exactMatchHigh: quality.high },
        ...{ ttftMs: time.value, ttftLow: time.low, ttftHigh: time.high },
      },
    ];
  });
  if (data.length < 2) return undefined;
  const { color, shape } = armEncoding(
    results,
    data.map(({ arm }) => arm),
  );
  const x = {
    type: 'quantitative' as const,
    axis: { title: 'Time to first token, ms (further left is better)', grid: true },
  };
  const y = { type: 'quantitative' as const, axis: { title: 'Exact match, %', tickCount: 5 } };
  const words = data.map(({ arm, exactMatch, exactMatchLow, exactMatchHigh, ttftMs, ttftLow, ttftHigh }) => {
    const quality = inWords({ value: exactMatch, low: exactMatchLow, high: exactMatchHigh }, '%');
    return `${arm} ${quality} at ${inWords({ value: ttftMs, low: ttftLow, high: ttftHigh }, 'ms')}`;
  });
  return figureOf(results, {
    id: 'frontier',
    title: 'Figure F1. Quality against time to the first token, by arm',
    description: `Exact match, and time to the first token over cache hits, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: {
      data: inlineData(data),
      width: PANEL_WIDTH,
      height: 230,
      encoding: { color },
      layer: [
        {
          transform: [{ filter: 'isValid(datum.exactMatchLow)' }],
          mark: { type: 'rule', opacity: 0.55 },
          encoding: {
            x: { ...x, field: 'ttftMs' },
            y: { ...y, field: 'exactMatchLow' },
            y2: { field: 'exactMatchHigh' },
          },
        },
        {
          transform: [{ filter: 'isValid(datum.ttftLow)' }],
          mark: { type: 'rule', opacity: 0.55 },
          encoding: { x: { ...x, field: 'ttftLow' }, x2: { field: 'ttftHigh' }, y: { ...y, field: 'exactMatch' } },
        },
        {
          mark: { type: 'point', size: 80 },
          encoding: { x: { ...x, field: 'ttftMs' }, y: { ...y, field: 'exactMatch' }, shape },
        },
      ],
    },
  });
}
