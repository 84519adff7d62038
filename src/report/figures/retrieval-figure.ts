import type { RunResults } from '../../records/results.ts';
import { estimateFields, type Figure, figureOf, inlineData, inWords } from './figure.ts';
import { PANEL_WIDTH } from './theme.ts';

const HEIGHT_A_STRATEGY = 26;
/** Recall gets most of the width, since its intervals are short. */
const RECALL_WIDTH = 0.6 * PANEL_WIDTH;
const TIME_WIDTH = 0.25 * PANEL_WIDTH;

/** Figure 7: recall@5 of every strategy over all questions made by seed, beside the time of a question; undefined if not measured. */
export function retrievalFigure(results: RunResults): Figure | undefined {
  const rows = results.measured?.retrieval?.rows ?? [];
  const data = rows.flatMap(({ dataset, strategy, kind, metrics: { recallAt5 }, timingsMs }) =>
    dataset !== undefined || kind !== 'all' || recallAt5 === null
      ? []
      : [{ strategy, ...estimateFields(recallAt5, 100), ms: timingsMs.total }],
  );
  if (data.length === 0) return undefined;
  const y = {
    field: 'strategy',
    type: 'nominal' as const,
    sort: data.map(({ strategy }) => strategy),
  };
  const labels = { title: null, grid: true, labelLimit: 0 };
  const height = HEIGHT_A_STRATEGY * data.length;
  const recall = {
    type: 'quantitative' as const,
    scale: { domain: [0, 100] },
    axis: { title: 'Recall@5, %', grid: true, tickCount: 3 },
  };
  const best = data.reduce((a, b) => (b.value > a.value ? b : a));
  const words = data.map(({ strategy, ms, ...value }) => `${strategy} ${inWords(value, '%')} in ${ms.toFixed(2)} ms`);
  return figureOf(results, {
    id: 'retrieval',
    title: `Figure 7. Recall@5 is highest with ${best.strategy}, ${best.value.toFixed(1)} %, in ${best.ms.toFixed(2)} ms a question`,
    description: `Recall@5 over all questions with 95 % intervals, and mean time a question: ${words.join('; ')}.`,
    data,
    spec: {
      data: inlineData(data),
      spacing: 14,
      hconcat: [
        {
          width: RECALL_WIDTH,
          height,
          encoding: { y: { ...y, axis: labels } },
          layer: [
            {
              transform: [{ filter: 'isValid(datum.low)' }],
              mark: { type: 'rule', color: '#3f78c1', strokeWidth: 3, opacity: 0.6 },
              encoding: { x: { ...recall, field: 'low' }, x2: { field: 'high' } },
            },
            { mark: { type: 'point', color: '#3f78c1', size: 14 }, encoding: { x: { ...recall, field: 'value' } } },
          ],
        },
        {
          width: TIME_WIDTH,
          height,
          mark: { type: 'bar', color: '#1b93a8', size: 10 },
          encoding: {
            y: { ...y, axis: { ...labels, labels: false } },
            x: { field: 'ms', type: 'quantitative', axis: { title: 'ms a question', grid: true, tickCount: 3 } },
          },
        },
      ],
    },
  });
}
