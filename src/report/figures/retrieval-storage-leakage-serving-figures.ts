/** Figures of what suites measure in addition to their turns: 7 (retrieval), 8 (storage), 9 (leakage) and 12 (serving). */
import { type Figure, type FigureRow, HALF_PANEL_WIDTH, PANEL_WIDTH } from '../../render/figure.ts';
import { countText, type Difference, formatNumber, groupedNumber } from '../../render/format-number.ts';
import type { LeakMatrix, RetrievalMeasurement, ServedLoad, StorageMeasurement } from '../../store/records/suite-measurements.ts'; // prettier-ignore
import type { RunResults } from '../../store/records/run-results.ts';
import { countLeaks } from '../tables/storage-leakage-serving-tables.ts';
import { asLines, curveEncoding } from './arm-encoding.ts';
import { categories, distinct, estimateFields, facets, fieldQuantity, intervalLayer, estimateText, layer, MEANS, nameAxis, quantity } from './figure-parts.ts'; // prettier-ignore
import { containsZero, listed, sizeText } from '../verdict-wording.ts';

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
    ...part('not shown to differ', containsZero, false),
  ];
  const against = `${base.strategy} (${formatNumber(recall.mean * 100, 1)} %)`;
  return parts.length === 0 ? `Recall@5 with ${against}` : `Against ${against}, recall@5 is ${parts.join('; ')}`;
}

/** Figure 7: recall@5 and time per question of retrieval strategies, over all generated questions; undefined if not measured. */
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
  const words = data.map(
    ({ strategy, ms, ...recall }) => `${strategy} ${estimateText(recall, '%')} in ${ms.toFixed(2)} ms`,
  );
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
          // Recall gets more width, since its intervals are short.
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

/** `Bytes of a memory token: 2.3 as text; 2,048 as KV in F16, 893 times the text; …` */
function storageFinding(storage: readonly StorageMeasurement[], tokens: number): string {
  const longest = storage.filter((row) => row.tokens === tokens);
  const text = longest.find(({ tier }) => tier === 'text')?.bytesPerToken;
  const kept = longest
    .filter(({ tier }) => tier === 'memory')
    .map(({ kvType, bytesPerToken }) => {
      const times = text === undefined ? '' : `, ${groupedNumber(Math.round(bytesPerToken / text))} times the text`;
      return `${groupedNumber(Math.round(bytesPerToken))} as KV in ${kvType}${times}`;
    });
  const asText = text === undefined ? [] : [`${formatNumber(text, 1)} as text`];
  return `Bytes of a memory token: ${[...asText, ...kept].join('; ')}`;
}

/** Figure 8: bytes per token by tier and type of KV, on a logarithmic scale; undefined if not measured. */
export function storageFigure(results: RunResults): Figure | undefined {
  const storage = results.measured?.storage;
  if (storage === undefined || storage.length === 0) return undefined;
  const data = storage.map(({ tier, kvType, tokens: memoryTokens, bytesPerToken }) => {
    return { keptAs: `${tier === 'text' ? 'text' : 'KV'}, ${kvType}`, tier, memoryTokens, bytesPerToken };
  });
  const largest = Math.max(...data.map(({ memoryTokens }) => memoryTokens));
  const scale = { type: 'log', domainMin: 1, nice: true };
  const values = Array.from({ length: 7 }, (_, power) => 10 ** power);
  const words = data
    .filter(({ memoryTokens }) => memoryTokens === largest)
    .map(({ keptAs, tier, bytesPerToken }) => {
      return `${keptAs}${tier === 'text' ? '' : ` on ${tier}`} ${formatNumber(bytesPerToken, 1)}`;
    });
  return {
    id: 'storage',
    title: `Figure 8. ${storageFinding(storage, largest)}`,
    key: 'One mark per length of memory; the number is for the longest.',
    description: `Bytes per token, logarithmic, one mark per length of memory; at ${largest} tokens: ${words.join('; ')}.`,
    data,
    spec: {
      width: 270,
      height: 150,
      encoding: {
        y: nameAxis('keptAs', distinct(data.map(({ keptAs }) => keptAs))),
        yOffset: { field: 'tier', type: 'nominal', sort: ['text', 'memory', 'disk'] },
        x: fieldQuantity('bytesPerToken', 'Bytes per token', scale, { grid: true, format: ',d', values }),
      },
      layer: [
        {
          mark: { type: 'point', size: 60 },
          encoding: {
            color: categories('tier', { text: '#6b6f71', memory: '#ad420a', disk: '#268eea' }),
            shape: categories('tier', { text: 'circle', memory: 'diamond', disk: 'square' }),
          },
        },
        layer(
          `datum.memoryTokens == ${largest}`,
          { type: 'text', align: 'left', dx: 9 },
          { text: { field: 'bytesPerToken', type: 'quantitative', format: ',.4~r' } },
        ),
      ],
    },
  };
}

const OWN = 'own secret';
const FOREIGN = "another's secret: a leak";
/** An invisible row that makes the axes span all users if no secret was told. */
const GRID = 'grid';
const colours = { [OWN]: '#268eea', [FOREIGN]: '#d60022', [GRID]: 'transparent' };
const MAX_TICKS = 8;

const heading = (matrix: LeakMatrix): string => {
  const leaks = countLeaks(matrix);
  return `${matrix.arm}: ${leaks === 0 ? 'no leak' : countText(leaks, 'leak')}`;
};

/** A row for each asking user and each owner of a secret in the answers. Users are numbered, since their names are data. */
function leakRows(matrix: LeakMatrix): FigureRow[] {
  const found = matrix.said.flatMap((row, asker) =>
    row.flatMap((answers, owner) => {
      const secret = owner === asker ? OWN : FOREIGN;
      return answers === 0 ? [] : [{ panel: heading(matrix), asker: asker + 1, owner: owner + 1, secret, answers }];
    }),
  );
  return found.length > 0 ? found : [{ panel: heading(matrix), asker: 1, owner: 1, secret: GRID, answers: 0 }];
}

function leakFinding(leaks: readonly LeakMatrix[], leaking: readonly LeakMatrix[]): string {
  if (leaking.length > 0) {
    const counts = leaking.map((matrix) => `${matrix.arm} (${countLeaks(matrix)} answers)`);
    return `${listed(counts)} told users another's secret`;
  }
  const bound = formatNumber(Math.max(...leaks.map(({ upperBound }) => upperBound)) * 100, 1);
  return `No arm of ${leaks.length} told a user another's secret: at most ${bound} % of answers do, by the upper 95 % bound`;
}

/** Figure 9: for each arm, which user was told the secret of which owner; undefined if not measured. */
export function leakFigure(results: RunResults): Figure | undefined {
  const leaks = results.measured?.leaks;
  if (leaks === undefined || leaks.length === 0) return undefined;
  const data = leaks.flatMap(leakRows);
  const users = Math.max(...leaks.map((matrix) => matrix.users.length));
  const few = Array.from({ length: users }, (_, user) => user + 1);
  const values = users <= MAX_TICKS ? few : [1, ...[1, 2, 3, 4].map((part) => Math.round((part * users) / 4))];
  const axis = { grid: true, values, format: 'd' };
  const scale = { domain: [0.5, users + 0.5], nice: false, zero: false };
  const leaking = leaks.filter((matrix) => countLeaks(matrix) > 0);
  const words = leaks.map((matrix) => {
    const heard = matrix.said.filter((row, asker) => row[asker]! > 0).length;
    const bound = `upper 95 % bound ${formatNumber(matrix.upperBound * 100, 1)} % of the answers`;
    return `${heading(matrix)}, ${bound}, ${heard} of ${matrix.users.length} users were told their own`;
  });
  return {
    id: 'leaks',
    title: `Figure 9. ${leakFinding(leaks, leaking)}`,
    key: 'A filled cell: the user was told the secret of the owner.',
    description: `Users who asked against owners of the secret; only the diagonal may be filled. ${words.join('; ')}.`,
    data,
    spec: facets('panel', leaks.map(heading), 2, {
      width: HALF_PANEL_WIDTH,
      height: HALF_PANEL_WIDTH,
      transform: [
        { calculate: 'datum.asker - 0.5', as: 'left' },
        { calculate: 'datum.asker + 0.5', as: 'right' },
        { calculate: 'datum.owner - 0.5', as: 'below' },
        { calculate: 'datum.owner + 0.5', as: 'above' },
      ],
      mark: { type: 'rect' },
      encoding: {
        x: { field: 'left', ...quantity('User who asks', scale, axis) },
        x2: { field: 'right' },
        y: { field: 'below', ...quantity('Owner of the secret', { ...scale, reverse: true }, axis) },
        y2: { field: 'above' },
        color: categories('secret', colours, { symbolType: 'square', values: [OWN, FOREIGN] }),
      },
    }),
  };
}

function servingFinding(loads: readonly ServedLoad[]): string {
  const clauses = [...Map.groupBy(loads, ({ arm }) => arm)].map(([arm, ofArm]) => {
    const served = ofArm.filter(({ saturated, errors }) => !saturated && errors === 0).map(({ offered }) => offered);
    return `${arm} ${served.length === 0 ? 'none' : `${formatNumber(Math.max(...served), 2)}/s`}`;
  });
  return `Highest tested arrival rate that each arm sustains: ${clauses.join(', ')}`;
}

/**
 * Figure 12: the median time to first token over the rate of arrival, both on logarithmic scales; undefined if not measured, or
 * only at the rate of a trace.
 */
export function servingFigure(results: RunResults): Figure | undefined {
  const { loads: all = [], replay } = results.measured?.serving ?? {};
  const loads = (replay === undefined ? all : []).filter(({ ttftMs }) => ttftMs !== null);
  if (loads.length === 0) return undefined;
  const data = loads.map(({ arm, offered, ttftMs, saturated }) => ({
    arm,
    offered,
    p50: ttftMs!.p50,
    p95: ttftMs!.p95 ?? null,
    saturated: saturated ? 1 : 0,
  }));
  const looks = curveEncoding(results, distinct(data.map(({ arm }) => arm)));
  const words = data.map(
    ({ arm, offered, p50, saturated }) =>
      `${arm} at ${formatNumber(offered, 2)}/s ${formatNumber(p50, 0)} ms${saturated === 1 ? ', saturated' : ''}`,
  );
  const axis = { grid: true, tickCount: 5 };
  const arrival = quantity('Arrival rate, 1/s', { type: 'log', nice: false }, { ...axis, format: '.2~r' });
  const ttft = quantity('Time to first token, ms', { type: 'log', nice: true }, { ...axis, format: ',.2~r' });
  const points = { color: looks.color, shape: looks.shape };
  return {
    id: 'serving',
    title: `Figure 12. ${servingFinding(loads)}`,
    key: 'Points are medians of the time from the planned arrival of a turn; hollow: the queue still grew at the end.',
    description: `Median times from the planned arrival, by arrival rate. ${words.join('; ')}.`,
    data,
    spec: {
      width: 320,
      height: 200,
      encoding: { x: { field: 'offered', ...arrival }, y: { field: 'p50', ...ttft } },
      layer: [
        { transform: asLines, mark: 'line', encoding: { color: looks.color, strokeDash: looks.strokeDash } },
        layer('datum.saturated == 0', { type: 'point', filled: true, size: 50 }, points),
        layer('datum.saturated == 1', { type: 'point', filled: false, size: 50 }, points),
      ],
    },
  };
}
