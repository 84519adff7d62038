import { estimateMean, estimateShare } from '../../../src/eval/analysis/statistics/estimate.ts';
import { differences, type Observation } from '../../../src/eval/analysis/statistics/observations.ts';
import type { Estimate } from '../../../src/store/records/estimate.ts';
import type { AskedTurn } from './asked-turns.ts';

const points = (share: number): string => (100 * share).toFixed(0);

function inWords(estimate: Estimate | null, signed: boolean): string {
  if (estimate === null) return '–';
  const { mean, low, high } = estimate;
  const sign = signed && mean > 0 ? '+' : '';
  return `${sign}${points(mean)} [${points(low)}, ${points(high)}]`;
}

function observations(turns: readonly AskedTurn[]): Observation[] {
  return turns.map(({ userId, contains }) => ({ userId, value: contains }));
}

/** Differences to the baseline on the same items. */
function against(turns: readonly AskedTurn[], baseline: readonly AskedTurn[]): Observation[] {
  const of = new Map(baseline.map(({ itemId, contains }) => [itemId, contains]));
  return differences(
    turns.flatMap(({ itemId, userId, contains: a }) => {
        const b = of.get(itemId);
        return b === undefined ? [] : [{ userId, a, b }];
      }),
  );
}

/**
 * A table in Markdown: a row a form, best `oracle` first; a column an arm: `contains` in %, and, for arms beside `rag`, the
 * difference to `rag` in points, with 95 % intervals over users.
 */
export function sweepTable(turns: readonly AskedTurn[], arms: readonly string[]): string {
  const forms = [...new Set(turns.map(({ form }) => form))];
  const of = (form: string, arm: string): AskedTurn[] => turns.filter((turn) => turn.form === form && turn.arm === arm);
  const oracle = (form: string): number => estimateMean(observations(of(form, arms[0]!)))?.mean ?? 0;
  const rows = forms
    .toSorted((a, b) => oracle(b) - oracle(a))
    .map((form) => {
      const cells = arms.map((arm) => {
        const own = of(form, arm);
        const share = inWords(estimateShare(observations(own)), false);
        const isCompared = arm !== 'oracle' && arm !== 'rag' && arms.includes('rag') && own.length > 0;
        return isCompared ? `${share}; ${inWords(estimateMean(against(own, of(form, 'rag'))), true)}` : share;
      });
      return [form, ...cells, String(of(form, arms[0]!).length)];
    });
  const head = ['form', ...arms, 'n'];
  return [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
