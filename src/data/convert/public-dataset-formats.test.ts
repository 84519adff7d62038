import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchFailure } from '../../../test/fixtures/bench-failure.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { readRunDatasets } from '../join-datasets.ts';
import type { Dataset } from '../dataset.ts';
import { verifySource } from '../verify/verify-dataset.ts';
import { datasetSources } from '../dataset-source.ts';

const folder = temporaryFolder();
const fixture = (name: string): string => join(import.meta.dirname, '../../../test/fixtures/conversion', name);

function written(content: unknown): string {
  const path = folder.file('written.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

async function read(name: string, file: string, errata?: string): Promise<Dataset> {
  const options = { dataset: [name], dataFile: { [name]: file }, ...(errata === undefined ? {} : { errata }) };
  return (await readRunDatasets(options)).parts[0]!;
}

const notesOf = ({ brought }: Dataset, file: string): string[] =>
  brought!.notes.map((note) => note.replace(basename(file), 'f'));

async function expectRefused(name: string, content: unknown, message: string): Promise<void> {
  const path = written(content);
  const error = await benchFailure(read(name, path));
  expect(error.message.replace(path, 'f').slice(0, message.length)).toBe(message);
}

describe('musique-s', () => {
  const file = fixture('passages.json');

  test('a question is a user with its passages, in their order; those that hold the answer are its evidence', async () => {
    const dataset = await read('musique-s', file);
    expect(dataset.name).toBe('musique-s');
    expect(dataset.declared).toMatchObject({ primaryMetric: 'tokenF1', licence: 'CC BY 4.0 (MuSiQue)' });
    const [first, second] = dataset.users;
    expect(first!.memories.map(({ memoryId, content }) => [memoryId, content.slice(0, 20)])).toEqual([
      ['q001-p01', 'The old mill of Rove'],
      ['q001-p02', 'Ada Quint: a builder'],
      ['q001-p03', 'Port Sallow lies in '],
    ]);
    expect(first!.items).toMatchObject([
      {
        ...{ itemId: 'q001', userId: 'q001', answer: 'West Marrow', acceptedAnswers: ['county of West Marrow'] },
        ...{ evidence: ['q001-p03'], passages: ['q001-p01', 'q001-p02', 'q001-p03'], category: 'answer in a passage' },
      },
    ]);
    expect(second!.items).toMatchObject([{ evidence: [], category: 'answer in no passage' }]);
    expect(notesOf(dataset, file)).toEqual(['questions whose answer is in no passage have no evidence (at f: [1])']);
    expect((await read('musique-s', file)).sha256).toBe(dataset.sha256);
  });

  test.each([
    ['f: [0]: ctxs expected the passages of the question', [{ question: 'x', answers: ['y'], ctxs: [] }]],
    ['f: [0]: answers expected at least one', [{ question: 'x', answers: [], ctxs: [{ text: 'z' }] }]],
    ['f: [0]: ', ['x']],
    ['f: has no questions', []],
  ])('bad data: %s', (message, content) => expectRefused('musique-s', content, message));
});

describe('longmemeval', () => {
  const file = fixture('histories.json');

  test('turns of both speakers are memories with their day; marked ones are the evidence', async () => {
    const dataset = await read('longmemeval', file);
    const [first] = dataset.users;
    expect(first!.memories.map(({ memoryId, content, createdAt }) => [memoryId, content, createdAt])).toEqual([
      ['7a1/2:1', '2 May 2023, user: Is rye bread dark?', '2023-05-02T10:00:00.000Z'],
      ['7a1/1:1', '8 May 2023, user: I planted tulips today.', '2023-05-08T13:56:00.000Z'],
      [
        '7a1/1:2',
        '8 May 2023, assistant: Lovely! Water them twice a week.\n\n1. Morning\n2. Evening',
        '2023-05-08T13:56:01.000Z',
      ],
    ]);
    expect(first!.items).toMatchObject([
      {
        ...{ itemId: '7a1', answer: '12', evidence: ['7a1/1:1'], category: 'temporal-reasoning' },
        query: 'Today is 20 May 2023. How many days ago did I plant the tulips?',
        askedAt: '2023-05-20T09:00:00.000Z',
      },
    ]);
  });

  test('questions to abstain from are absent; those with a rubric for a key are left out', async () => {
    const dataset = await read('longmemeval', file);
    expect(dataset.users.map(({ userId }) => userId)).toEqual(['7a1', '7a2_abs']);
    expect(dataset.users[1]!.items).toMatchObject([
      { answer: null, evidence: [], category: 'abstention', askedAt: '2023-05-08T13:56:00.000Z' },
    ]);
    expect(notesOf(dataset, file)).toEqual([
      'turns without text were left out (at f: 7a1 haystack_sessions[1][1])',
      'questions dated before the end of their history are asked after it (at f: 7a2_abs)',
      'questions of type single-session-preference were left out: their gold answers are rubrics for a judge (at f: 7a3)',
    ]);
  });

  const question = {
    ...{ question_id: 'q', question_type: 'multi-session', question: 'x', answer: 'y' },
    ...{ question_date: '2023/05/20 (Sat) 09:00', haystack_dates: ['2023/05/20'], haystack_sessions: [[]] },
  };
  const turn = { role: 'asistant', content: 'x' };
  test.each([
    ['f: q: question_date expected a time such as', { question_date: 'May' }],
    ['f: q: haystack_dates expected a date for each of 1', { haystack_dates: [] }],
    [
      'f: q haystack_sessions[0][0]: role expected user or assistant, got "asistant": did you mean assistant?',
      { haystack_sessions: [[turn]] },
    ],
  ])('bad data: %s', (message, change) => expectRefused('longmemeval', [{ ...question, ...change }], message));
});

describe('locomo with errata', () => {
  const file = fixture('conversations.json');

  test('answers and citations are corrected, questions without one right answer dropped, ids stay', async () => {
    const plain = await read('locomo', file);
    const dataset = await read('locomo', file, fixture('errata.json'));
    const items = ({ users }: Dataset) =>
      users.flatMap((user) => user.items.map(({ itemId, answer, evidence }) => [itemId, answer, evidence]));
    expect(items(dataset)).toEqual([
      ['conv-1-q01', '12', ['conv-1/D1:3']],
      ['conv-1-q02', '8 May 2023', ['conv-1/D1:1']],
      ...items(plain).slice(3),
    ]);
    expect(items(plain)[2]).toEqual(['conv-1-q03', 'he sold it', ['conv-1/D1:2', 'conv-1/D2:1']]);
    expect(notesOf(dataset, file)).toContain(
      'errata of 4 entries: 1 answers and 1 citations corrected, 1 questions dropped; ' +
        '1 entries match no question and answer of this file (at f)',
    );
    expect(dataset.sha256).not.toBe(plain.sha256);
    expect(dataset.brought!.sha256).toBe(plain.brought!.sha256);
    expect(dataset.brought!.errataSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(plain.brought).not.toHaveProperty('errataSha256');
  });

  test('an entry twice, and one that is none', async () => {
    const entry = { question_id: 'locomo_0_qa0', question: 'x', golden_answer: 'y', correct_answer: 'z' };
    const ambiguous = { ...entry, error_type: 'AMBIGUOUS' };
    const twice = read('locomo', file, written([ambiguous, ambiguous]));
    await expect(twice).rejects.toThrow(/\[1\]: question_id "locomo_0_qa0" occurs twice/);
    const none = read('locomo', file, written([entry]));
    await expect(none).rejects.toThrow(/\[0\]: error_type expected string, got nothing/);
  });
});

test('a public set is verified as any other, by its name', async () => {
  const file = fixture('conversations.json');
  const [source] = datasetSources({ dataset: ['locomo'], dataFile: { locomo: file } });
  expect(await verifySource(source!)).toMatchObject({ file: 'locomo', name: 'locomo', valid: true });
});
