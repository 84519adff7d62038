import { beforeEach, expect, it } from 'vitest';
import { storeRun } from '../../../test/fixtures/stored-runs.ts';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { builtInMetrics } from '../../eval/analysis/metrics/built-in-metrics.ts';
import { metricsOfRun, requirePrimary } from '../../eval/analysis/metrics/metric-selection.ts';
import type { TurnRecord } from '../../store/records/turn-record.ts';
import { serverLinks as links } from '../links.ts';
import { turnListSection } from './turn-list.ts';
import { readRunPage } from './run-page.ts';

let database: BenchDatabase;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  return () => database.close();
});

const own = { name: 'brief', label: 'in five words', kind: 'binary', unit: '%', direction: 'higher', margin: 2 } as const; // prettier-ignore
const canBePrimary = [...builtInMetrics, own].filter(({ name }) => {
  try {
    requirePrimary(name, [own], 'here');
    return true;
  } catch {
    return false;
  }
});

/** Turns on which no two metrics have one value, an absent item and a failed turn. */
function stored(runId: string): TurnRecord[] {
  const base = answeredTurn('rag');
  const goldTokens = [{ token: 'a', logProbability: -1 }, { token: 'b', logProbability: -2 }]; // prettier-ignore
  const observed = { ...base.observed, goldLogProbability: -3, goldTokens, goldKl: 0.25 };
  const values = { exactMatch: 0, contains: 1, tokenF1: 0.5, memoryRecall: 0.75, rougeL: 0.125, bleu: 0.0625 };
  const some = { ...values, locomoF1: 0.375 };
  const none = Object.fromEntries(Object.keys(some).map((name) => [name, null]));
  const turns: TurnRecord[] = [
    { ...base, observed, scores: { ...base.scores, ...some, own: { brief: 1 } } },
    {
      ...{ ...base, itemId: 'i-8', item: { ...base.item, gold: null } },
      observed: { ...observed, goldLogProbability: null, goldTokens: [], goldKl: 0.5 },
      scores: { ...base.scores, ...none, abstention: 1, own: { brief: null } },
    },
    failedTurn('rag', 'no cell left', { itemId: 'i-9' }),
  ];
  for (const turn of turns) new TurnRepository(database).put({ runId, sessionId: 's' }, turn);
  return turns;
}

it.each(canBePrimary.map(({ name }) => name))('the list holds the values of %s where it is primary', async (name) => {
  const run = storeRun(database, { name: 'r', turns: [], primaryMetric: name, metrics: [own] });
  const { primary } = metricsOfRun({ dataset: { primaryMetric: name }, metrics: [own] });
  const values = stored(run.id).map((turn) => (turn.state === 'failed' ? null : primary.of(turn)));
  expect(values[0]).not.toBeNull();
  const { items } = readRunPage(database, 'r', {});
  expect(items.page.rows.map(({ primaryValue }) => primaryValue)).toEqual(values);
  const heading = /<th\s+scope="col"\s+class="right"[^]*?>([^<>]+)<\/a/.exec(
    String(await turnListSection(items, links)),
  );
  expect(heading![1]!.trim()).toBe(primary.label);
});

const turn = (itemId: string, right: boolean) => ({ itemId, userId: 'u', arm: 'rag', right });

it('is sorted and filtered by the primary metric of the run', () => {
  const declared = { primaryMetric: 'contains', metrics: [own] };
  const run = storeRun(database, { name: 'r', turns: [turn('a', false), turn('b', true)], ...declared });
  // Right by contains, and not to the letter.
  const base = answeredTurn('rag', { answer: ' in Turin' });
  const scores = { ...base.scores, exactMatch: 0, contains: 1, taskSuccess: 1 };
  new TurnRepository(database).put({ runId: run.id, sessionId: 's' }, { ...base, itemId: 'c', scores });
  const items = (query: Parameters<typeof readRunPage>[2]) =>
    readRunPage(database, 'r', query).items.page.rows.map(({ itemId }) => itemId);
  expect(items({ answer: 'right' })).toEqual(['b', 'c']);
  expect(items({ answer: 'wrong' })).toEqual(['a']);
  expect(items({ sort: 'primaryValue', descending: true })).toEqual(['b', 'c', 'a']);
  expect(items({ sort: 'exactMatch', descending: true })).toEqual(['b', 'a', 'c']);
});

it('shows one column where the primary metric has one of its own, also by its old address', async () => {
  storeRun(database, { name: 'r', turns: [turn('a', true)] });
  const { items } = readRunPage(database, 'r', { sort: 'exactMatch' });
  expect(items.query.sort).toBe('primaryValue');
  const page = String(await turnListSection(items, links));
  expect(page.match(/>\s*exact match[^:]*?<\/a/g)).toHaveLength(1);
  expect(page).toContain('aria-sort="ascending"');
});
