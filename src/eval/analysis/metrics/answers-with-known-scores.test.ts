import { expect, test } from 'vitest';
import { builtInMetrics, type MetricDefinition } from './built-in-metrics.ts';
import { misjudged, plantedTurn } from './answers-with-known-scores.ts';

const golds = ['Brenko', 'TX-4500', 'a software engineer', 'Port Dral'];

/** What is misjudged where a metric of the bench computes something else. */
const misjudgedBy = (name: string, of: MetricDefinition['of']): string[] =>
  misjudged(
    golds,
    'en',
    builtInMetrics.map((metric) => (metric.name === name ? { ...metric, of } : metric)),
  );

/** The ways that are misjudged by that metric. */
function waysOf(name: string, of: MetricDefinition['of']): string[] {
  const found = misjudgedBy(name, of).filter((line) => line.startsWith(`${name} gives `));
  return [...new Set(found.map((line) => line.slice(`${name} gives `.length).split(' (')[0]!))];
}

test('the metrics of the bench misjudge no planted answer, in either language', () => {
  expect(misjudged(golds, 'en')).toEqual([]);
  expect(misjudged(['布伦科', '上海', '绿茶', '４８２１'], 'zh')).toEqual([]);
});

test('says what a metric gives, to what, and what is due', () => {
  expect(misjudgedBy('contains', () => 0.5)[0]).toBe('contains gives the gold (Brenko) 0.5, not 1');
});

const spellings = ['the gold in capitals', 'the gold in another width', 'the gold in other punctuation'];
const fooled = ['all values recited', 'two of a relation', 'old and new together', 'a negation'];
const accepted = ['another accepted answer', 'the gold beside accepted answers'];
const known = (score: number | null, otherwise: boolean): number | null => (score === null ? null : Number(otherwise));

test.each<[string, readonly string[], MetricDefinition['of']]>([
  ['contains', fooled, (turn) => turn.scores.memoryRecall],
  ['exactMatch', ['the gold in a longer sentence'], ({ scores }) => scores.contains],
  [
    'exactMatch',
    [...spellings, 'another accepted answer'],
    ({ item, answer, scores }) => scores.exactMatch && Number(answer.text === item.gold),
  ],
  ['tokenF1', ['the gold', ...spellings, ...accepted], ({ scores }) => scores.tokenF1 && scores.tokenF1 / 2],
  [
    'tokenF1',
    ['the gold in a longer sentence', "another's value", 'an abstention', ...fooled],
    ({ scores, answer }) => known(scores.tokenF1, answer.text !== ''),
  ],
  [
    'abstention',
    ['an empty answer to an absent item'],
    ({ scores, answer }) => known(scores.abstention, scores.abstention === 1 || answer.text === ''),
  ],
  ['abstention', ['a value for an absent item'], ({ scores, answer }) => known(scores.abstention, answer.text !== '')],
  ['taskSuccess', ['an abstention'], ({ scores, answer }) => (answer.text.includes('know') ? 1 : scores.taskSuccess)],
  [
    'exactMatch',
    ['an abstention on an absent item', 'an empty answer to an absent item', 'a value for an absent item'],
    ({ scores }) => scores.exactMatch ?? 0,
  ],
  ['locomoF1', ['an abstention on an absent item'], ({ item, scores }) => (item.gold === null ? 0 : scores.locomoF1)],
])('finds a false %s by %j', (name, ways, of) => {
  expect(waysOf(name, of)).toEqual(ways);
});

test('ln p of a gold is that of a token, on average', () => {
  const turn = plantedTurn({ answer: 'Brenko', gold: 'Brenko', language: 'en', sure: true }, 'contains');
  const value = (name: string) => builtInMetrics.find((metric) => metric.name === name)!.of(turn);
  expect([value('goldLogProb'), value('goldLogProbability')]).toEqual([-0.05, -0.1]);
});
