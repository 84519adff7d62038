import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { type Difference, formatNumber } from '../../render/table.ts';
import type { RetrievalMeasurement } from '../../store/records/measured.ts';
import type { RunResults } from '../../store/records/results.ts';
import { estimateFields, intervalLayer, inWords, MEANS, nameAxis, quantity } from './figure-parts.ts';
import { holdsZero, listed, sizeText } from './finding.ts';

/** `against router (72.2 %), recall@5 is higher with salience (by 9.2 [5.6, 12.8] points), lower with tiered (…)` */
function retrievalFinding(rows: readonly RetrievalMeasurement[]): string {
  const base = rows.find(({ againstRouter }) => againstRouter === null);
  const recall = base?.metrics.recallAt5 ?? null;
  if (base === undefined || recall === null) return 'Recall@5 by strategy; none were compared';
  const part = (words: string, isPart: (difference: Difference) => boolean, isSized = true): string[] => {
    const some = rows.flatMap(({ strategy, againstRouter: difference }) => {
      if (difference === null || !isPart(difference)) return [];
      return [isSized ? `${strategy} (by ${sizeText(difference, 100, 1)} points)` : strategy];
    });
    return some.length === 0 ? [] : [`${words} with ${listed(some)}`];
  };
  const parts = [
    ...part('higher', ({ low }) => low > 0),
    ...part('lower', ({ high }) => high < 0),
    ...part('not shown to differ', holdsZero, false),
  ];
  const against = `${base.strategy} (${formatNumber(recall.mean * 100, 1)} %)`;
  return parts.length === 0 ? `Recall@5 with ${against}` : `Against ${against}, recall@5 is ${parts.join('; ')}`;
}

/** Figure 7, in no colour of an arm: recall@5 of every strategy over all questions made by seed, beside the time of a question; undefined if not measured. */
export function retrievalFigure(results: RunResults): Figure | undefined {
  const rows = results.measured?.retrieval?.rows ?? [];
  const shown = rows.filter(({ dataset, kind }) => dataset === undefined && kind === 'all');
  const data = shown.flatMap(({ strategy, metrics: { recallAt5 }, timingsMs }) =>
    recallAt5 === null ? [] : [{ strategy, ...estimateFields(recallAt5, 100), ms: timingsMs.total }],
  );
  if (data.length === 0) return undefined;
  const y = nameAxis('strategy', data.map(({ strategy }) => strategy)); // prettier-ignore
  const height = 26 * data.length;
  const recall = quantity('Recall@5, %', { domain: [0, 100] }, { grid: true, tickCount: 3 });
  const words = data.map(({ strategy, ms, ...value }) => `${strategy} ${inWords(value, '%')} in ${ms.toFixed(2)} ms`);
  return {
    id: 'retrieval',
    title: `Figure 7. ${retrievalFinding(shown)}`,
    key: `${MEANS} Bars are mean times per question.`,
    description: `Recall@5 over all questions with 95 % intervals, and mean time per question: ${words.join('; ')}.`,
    data,
    spec: {
      spacing: 14,
      hconcat: [
        {
          // Recall gets most of the width, since its intervals are short.
          width: 0.5 * PANEL_WIDTH,
          height,
          encoding: { y },
          layer: [
            intervalLayer('x', recall, { mark: { color: 'currentColor', strokeWidth: 3, opacity: 0.45 } }),
            {
              mark: { type: 'point', color: 'currentColor', size: 16 },
              encoding: { x: { ...recall, field: 'value' } },
            },
          ],
        },
        {
          width: 0.3 * PANEL_WIDTH,
          height,
          mark: { type: 'bar', color: 'currentColor', opacity: 0.6, size: 10 },
          encoding: {
            y: { ...y, axis: { title: null, grid: true, labels: false } },
            x: { field: 'ms', ...quantity('ms per question', {}, { grid: true, tickCount: 3 }) },
          },
        },
      ],
    },
  };
}
