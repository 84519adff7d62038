import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { TestFolder } from '../../test/model/bench-fixture.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { WithheldTexts } from './reveal-withheld-texts.ts';

const folder = new TestFolder();
afterAll(() => folder[Symbol.dispose]());

const [right, wrong] = [folder.file('right.json'), folder.file('wrong.json')];
writeFileSync(right, '[1]');
writeFileSync(wrong, '[2]');
const sha256 = createHash('sha256').update('[1]').digest('hex');

/** The parts of a run that describe its data set. */
function runOf(dataset: object, settings: object = {}): RunRecord {
  return { dataset: { name: 'locomo', sha256: 'of the conversion', ...dataset }, plan: { settings } } as RunRecord;
}

const others = { texts: 'withheld', brought: { sha256 } };

test('texts of one\u2019s own data are shown', () => {
  expect(new WithheldTexts(undefined).hidden(runOf({}))).toBeNull();
});

test('withheld texts are shown to a reader who has the file', () => {
  expect(new WithheldTexts(right).hidden(runOf(others))).toBeNull();
  expect(new WithheldTexts(`locomo=${right}`).hidden(runOf(others))).toBeNull();
  expect(new WithheldTexts(undefined).hidden(runOf(others, { dataFile: { locomo: right } }))).toBeNull();
  const converted = { texts: 'withheld', sha256 };
  expect(new WithheldTexts(undefined).hidden(runOf(converted, { dataset: [right] }))).toBeNull();
  expect(
    new WithheldTexts(right).hidden(runOf({ parts: [{ name: 'mine' }, { name: 'locomo', ...others }] })),
  ).toBeNull();
});

test('the reason tells a wrong file from a missing one', () => {
  const start = sha256.slice(0, 16);
  expect(new WithheldTexts(wrong).hidden(runOf(others))).toMatch(
    new RegExp(
      `^hashes replace the texts of locomo, which may not be passed on: .*wrong.json \\(sha256 [0-9a-f]{16}…\\) is not the file of the run \\(sha256 ${start}…\\)$`,
    ),
  );
  expect(new WithheldTexts(undefined).hidden(runOf(others, { dataFile: { locomo: folder.file('gone') } }))).toBe(
    'hashes replace the texts of locomo, which may not be passed on: ' +
      `show them from your own file with --data-file FILE (sha256 ${start}…)`,
  );
  // A file given by --data-file takes precedence over all others.
  expect(new WithheldTexts(wrong).hidden(runOf(others, { dataFile: { locomo: right } }))).not.toBeNull();
  expect(() => new WithheldTexts(folder.file('gone'))).toThrow('--data-file: there is no file');
});
