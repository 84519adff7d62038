import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { TurnListRepository } from '../store/turn-list-repository.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { outcomeLines, readOutcomes, readReportOutcomes, storedOutcomes } from './turn-outcomes-file.ts';

const folder = folderOfEachTest();
let database: BenchDatabase;
let run: RunRecord;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  const turn = { userId: 'ann', right: true } as const;
  run = storeRun(database, {
    name: 'main',
    turns: [
      { ...turn, itemId: 'i-1', arm: 'rag' },
      { ...turn, itemId: 'i-1', arm: 'dki', right: false, answer: ' Oslo\u202e' },
      { ...turn, itemId: 'i-2', arm: 'rag', gold: null, firstTokenMs: 1 / 3 },
      { ...turn, itemId: 'i-2', arm: 'dki', error: 'out of memory' },
    ],
  });
  return () => database.close();
});

const stored = () => [...new TurnListRepository(database).rows(run.id)];

it('gives back every row of a run, numbers to five digits', () => {
  const text = storedOutcomes(database, run.id);
  expect(text.trimEnd().split('\n')).toHaveLength(3);
  const rows = stored().map(({ turnId: _turn, ...row }) => row);
  // What is known of the item of a failed turn comes from its other turns.
  const { category, question, gold } = rows[2]!;
  const [answered, failed] = [{ firstTokenMs: 0.33333 }, { category, question, gold }];
  const expected = [rows[0], rows[1], { ...rows[2], ...answered }, { ...rows[3], ...failed }];
  expect(readOutcomes(text, 'file')).toEqual(expected);
  expect(text).not.toContain('\u202e');
});

it('reads the class of superseded answers under the name that older reports gave it', () => {
  const text = storedOutcomes(database, run.id);
  const classes = (lines: string) => readOutcomes(lines, 'file').map(({ wrongClass }) => wrongClass);
  const [head, first, ...others] = text.split('\n');
  const at = (JSON.parse(head!) as { readonly columns: readonly string[] }).columns.indexOf('wrongClass');
  const item = JSON.parse(first!) as { readonly turns: unknown[][] };
  item.turns[1]![at] = 'stale';
  expect(classes(text)).not.toContain('superseded');
  expect(classes([head, JSON.stringify(item), ...others].join('\n'))[1]).toBe('superseded');
});

it('has no text of a withheld data set or of a run that stored none; answers still differ', () => {
  const withheld = { ...run, dataset: { ...run.dataset, texts: 'withheld' as const } };
  const unstored = { ...run, plan: { ...run.plan, settings: { ...run.plan.settings, text: false } } };
  for (const hidden of [withheld, unstored]) {
    const text = outcomeLines(hidden, stored());
    expect(text).not.toMatch(/Turin|Oslo|sister|out of memory/);
    const [right, wrong, , failed] = readOutcomes(text, 'file');
    expect([right!.question, right!.gold, failed!.error]).toEqual([null, null, 'failed']);
    expect(right!.answer).toMatch(/^sha256:[0-9a-f]{16}$/);
    expect(right!.answer).not.toBe(wrong!.answer);
  }
});

it('judges no answer of random weights', () => {
  const text = outcomeLines({ ...run, model: { ...run.model, name: 'random:tiny' } }, stored());
  const [first] = readOutcomes(text, 'file');
  expect([first!.taskSuccess, first!.primaryValue, first!.wrongClass]).toEqual([null, null, null]);
  expect(first!.evaluatedTokens).toBe(43);
});

it.each([
  ['', 'file:1: is not JSON'],
  ['{}', 'file:1: schemaVersion'],
  ['{"schemaVersion":1,"run":"a","columns":["arm"]}', 'file:1: columns: no "repeat"'],
])('refuses %s, naming the line', (text, message) => {
  expect(() => readOutcomes(text, 'file')).toThrow(message);
});

it('names the line and the field of an invalid value', () => {
  const lines = storedOutcomes(database, run.id).split('\n');
  lines[2] = lines[2]!.replace('["rag",0', '["rag","0"');
  expect(() => readOutcomes(lines.join('\n'), 'file')).toThrow('file:3: repeat: ');
});

it('are read from a report compressed, plain in older ones, and null if it has none', () => {
  expect(readReportOutcomes(folder.path)).toBeNull();
  const lines = storedOutcomes(database, run.id);
  writeFileSync(folder.file('outcomes.jsonl'), lines);
  expect(readReportOutcomes(folder.path)).toEqual(readOutcomes(lines, 'file'));
  const [head, ...items] = lines.split('\n');
  writeFileSync(folder.file('outcomes.jsonl.gz'), gzipSync([head, items[0]].join('\n')));
  expect(readReportOutcomes(folder.path)?.map(({ itemId }) => itemId)).toEqual(['i-1', 'i-1']);
});
