import { expect, test } from 'vitest';
import { builtInMetrics, type MetricDefinition } from './metrics.ts';
import { misjudged } from './planted-answers.ts';

const golds = ['Brenko', 'TX-4500', 'a software engineer', 'Port Dral'];

/** The ways that are misjudged where a metric of the bench computes something else. */
function waysOf(name: string, of: MetricDefinition['of']): string[] {
  const metrics = builtInMetrics.map((metric) => (metric.name === name ? { ...metric, of } : metric));
  const found = misjudged(golds, 'en', metrics).filter((line) => line.startsWith(`${name} gives `));
  return [...new Set(found.map((line) => line.slice(`${name} gives `.length).split(' (')[0]!))];
}

test('the metrics of the bench misjudge no planted answer, in either language', () => {
  expect(misjudged(golds, 'en')).toEqual([]);
  expect(misjudged(['布伦科', '上海', '绿茶', '４８２１'], 'zh')).toEqual([]);
});

test('says what a metric gives, to what, and what is due', () => {
  const same = builtInMetrics.map((metric) => (metric.name === 'contains' ? { ...metric, of: () => 0.5 } : metric));
  expect(misjudged(golds, 'en', same)[0]).toBe('contains gives the gold (Brenko) 0.5, not 1');
});

test.each<[string, string, MetricDefinition['of'], readonly string[]]>([
  [
    'contains that looks anywhere',
    'contains',
    ({ scores }) => scores.memoryRecall,
    ['all values recited', 'two of a relation', 'old and new together', 'a negation'],
  ],
  [
    'exact match that is met within a sentence',
    'exactMatch',
    ({ scores }) => scores.contains,
    ['the gold in a longer sentence'],
  ],
  [
    'exact match of characters',
    'exactMatch',
    ({ item, answer, scores }) => scores.exactMatch && Number(answer.text === item.gold),
    ['the gold in capitals', 'the gold in another width', 'the gold in other punctuation'],
  ],
  [
    'an F1 that is never whole',
    'tokenF1',
    ({ scores }) => scores.tokenF1 && scores.tokenF1 / 2,
    expect.arrayContaining(['the gold']) as string[],
  ],
  [
    'F1 that is given for any value',
    'tokenF1',
    ({ scores, answer }) => (scores.tokenF1 === null ? null : Number(answer.text !== '')),
    expect.arrayContaining(["another's value", 'an abstention', 'a negation']) as string[],
  ],
  [
    'an abstention that silence is',
    'abstention',
    ({ scores, answer }) => (scores.abstention === null ? null : Number(scores.abstention === 1 || answer.text === '')),
    ['an empty answer to an absent item'],
  ],
  [
    'an abstention that any answer is',
    'abstention',
    ({ scores, answer }) => (scores.abstention === null ? null : Number(answer.text !== '')),
    ['a value for an absent item'],
  ],
  [
    'a success that every abstention is',
    'taskSuccess',
    ({ scores, answer }) => (answer.text.includes('know') ? 1 : scores.taskSuccess),
    ['an abstention'],
  ],
  [
    'an absent item that counts as a wrong answer',
    'exactMatch',
    ({ scores }) => scores.exactMatch ?? 0,
    ['an abstention on an absent item', 'an empty answer to an absent item', 'a value for an absent item'],
  ],
  [
    'locomoF1 that declines nothing',
    'locomoF1',
    ({ item, scores }) => (item.gold === null ? 0 : scores.locomoF1),
    ['an abstention on an absent item'],
  ],
])('finds %s', (_, name, of, ways) => {
  expect(waysOf(name, of)).toEqual(ways);
});
