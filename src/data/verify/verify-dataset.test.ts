import { expect, test } from 'vitest';
import * as lines from '../../../test/fixtures/dataset-lines.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { shippedDatasets } from '../../config/shipped-datasets.ts';
import { fileSource } from '../dataset-source.ts';
import { verifyDataset } from './verify-dataset.ts';

const { header, late, memory, other, question } = lines;
const folder = temporaryFolder();
const file = (records: readonly (object | string)[]) => fileSource(lines.writeLines(folder, records));
const item = (id: string, more: object = {}) => lines.item(id, { evidence: ['m'], ...more });

const naming = { evidence: ['n'] };

test.each<[string, readonly (object | string)[]]>([
  ['', [memory('m'), item('q')]],
  ['error schema 1, error schema 3', ['{', memory('m'), item('q', { answer: 7 })]],
  [
    'error duplicate-id 2, warning duplicate-content 2, error duplicate-id 4, warning duplicate-question 4',
    [memory('m'), memory('m'), item('q'), item('q')],
  ],
  ['error evidence 2, error evidence 2', [memory('m'), item('q', { evidence: ['x', 'm', 'y'] })]],
  ['error evidence-after-question 2', [memory('m', late), item('q')]],
  ['error absent-with-evidence 2', [memory('m'), item('q', { answer: null })]],
  ['error supersedes 1', [memory('m', { supersedes: 'n' }), memory('n'), item('q')]],
  ['warning leak 2', [memory('m'), item('q', { query: 'Is it BRENKO?' }), item('r', { query: 'Brenkos?' })]],
  ['warning leak 2', [memory('m'), item('q', { acceptedAnswers: ['my dog'] })]],
  ['error superseded-answer 2', [memory('m'), item('q', { superseded: ['Rex', 'brenko.'] })]],
  [
    'warning duplicate-content 2',
    [
      memory('m', { content: 'Rex barks!' }),
      memory('n', { content: 'rex  barks' }),
      memory('o', { content: 'Rex barks!', userId: 'u02' }),
      item('q'),
      item('r', { userId: 'u02', evidence: ['o'] }),
    ],
  ],
  [
    'warning duplicate-question 3',
    [
      memory('m'),
      item('q', { query: 'Who?' }),
      item('r', { query: 'who' }),
      item('s', { query: 'who', answer: 'Rex' }),
      item('t', { query: 'who', condition: 0.5 }),
    ],
  ],
  ['warning user-without-items 2', [memory('m'), memory('n', other), memory('o', other), item('q')]],
  [
    'warning no-evidence 2',
    [memory('m'), item('q', { evidence: [] }), item('r', { evidence: [], history: [{ role: 'user', content: 'x' }] })],
  ],
  ['warning language 1', [header({ language: 'zh' }), memory('m'), item('q')]],
  ['warning language file', [memory('m'), item('q', { answer: '小白' })]],
  ['', [header({ language: 'en-GB' }), memory('m'), item('q')]],
  ['', [header({ language: 'ja' }), memory('m'), item('q', { answer: '東京' })]],
  ['error header 1', [header({ userKinds: { u9: 'large', u01: 'large' } }), memory('m'), item('q')]],
  ['error header 2', [memory('m'), header({}), item('q')]],
  ['', [memory('m'), question('q'), question('r', { category: 'chinese' })]],
  [
    'error schema 2, error schema 3',
    [memory('m'), question('q', { evidence: [] }), question('r', { answer: null }), question('s', naming)],
  ],
  ['error evidence 2', [memory('m'), question('q', naming)]],
  ['error duplicate-id 3, warning duplicate-question 3', [memory('m'), question('q'), question('q')]],
  ['error schema 3', [memory('m'), item('q'), question('r')]],
  ['warning user-without-items 1, error schema file', [memory('m')]],
])('finds: %s', async (expected, records) => {
  const { findings } = await verifyDataset(file(records));
  const found = findings.map(({ severity, rule, line }) => `${severity} ${rule} ${line ?? 'file'}`);
  expect(found.sort()).toEqual(expected === '' ? [] : expected.split(', ').sort());
});

test('reports if the file is valid, and if broken lines left it partly verified', async () => {
  const warned = await verifyDataset(file([memory('m'), item('q', { query: 'Brenko?' })]));
  expect(warned).toMatchObject({ valid: true, errors: 0, warnings: 1, partial: false, name: null });
  expect(warned.findings[0]!.message).toMatch(/jsonl:2: query holds the answer "Brenko"$/);
  const broken = await verifyDataset(file(['[]', item('q', { evidence: ['nobody'] })]));
  expect(broken).toMatchObject({ valid: false, errors: 1, partial: true });
});

test('counts what a file holds', async () => {
  const { statistics } = await verifyDataset(
    file([
      header({ userKinds: { u02: 'large' } }),
      memory('m', { preference: true }),
      memory('n', { content: '🐕🐕', supersedes: 'm' }),
      memory('o', { userId: 'u02' }),
      item('q', { evidence: ['m', 'n'], phrasing: 'known' }),
      item('r', { answer: 'Rex', evidence: ['m'], category: 'other' }),
      item('s', { answer: null, evidence: [] }),
      item('t', { userId: 'u02', evidence: [], history: [{ role: 'user', content: 'Brenko' }] }),
    ]),
  );
  expect(statistics).toEqual({
    ...{ users: 2, memories: 3, items: 4, answerable: 3, absent: 1, withHistory: 1, preferences: 1, superseding: 1 },
    questions: 0,
    memoriesAUser: { least: 1, median: 1.5, most: 2 },
    itemsAUser: { least: 1, median: 2, most: 3 },
    memoryCharacters: { least: 2, median: 26, most: 26 },
    evidenceAnItem: { least: 0, median: 1, most: 2 },
    answersInEvidence: { items: 1, of: 2 },
    categories: { other: 1, plain: 3 },
    phrasings: { known: 1 },
    userKinds: { large: 1 },
  });
});

test.each([...shippedDatasets()])('the data set %s that ships has neither errors nor warnings', async (_, path) => {
  expect((await verifyDataset(fileSource(path))).findings).toEqual([]);
});
