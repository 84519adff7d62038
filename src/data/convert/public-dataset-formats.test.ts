import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchFailure } from '../../../test/fixtures/bench-failure.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { readRunDatasets } from '../join-datasets.ts';
import type { Dataset } from '../dataset.ts';
import { verifyDataset } from '../verify/verify-dataset.ts';
import { datasetSources } from '../dataset-source.ts';
import { splitContext } from './passage-questions.ts';

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
    ['f: [0]: expected a field ctxs, input, paragraphs, supporting_facts, got "x"', ['x']],
    [
      'f: [0]: expected a field ctxs, input, paragraphs, supporting_facts, got query, texts',
      [{ query: '', texts: [] }],
    ],
    ['f: has no questions', []],
  ])('bad data: %s', (message, content) => expectRefused('musique-s', content, message));
});

describe('questions with passages in the forms of their authors and of LongBench', () => {
  const longBench = {
    input: 'Which mill is older, that of Rovel or that of Tarn?',
    context: 'Passage 1:\nRovel\nThe mill of Rovel is of 1610.\n\nPassage 2:\nTarn\nThe mill of Tarn is of 1702.\n',
    answers: ['Rovel'],
    ...{ length: 20, dataset: 'hotpotqa', language: 'en', all_classes: null, _id: 'a1' },
  };
  const published = {
    ...{
      _id: 'b1',
      question: 'Where was the builder of the mill of Rovel born?',
      answer: 'Port Sallow',
      type: 'bridge',
    },
    context: [
      ['Mill of Rovel', ['Ada Quint built it.', ' It stands on the Tarn.']],
      ['Tarn', ['The Tarn is a river.']],
      ['Ada Quint', ['She was born in Port Sallow.']],
    ],
    supporting_facts: [
      ['Mill of Rovel', 0],
      ['Ada Quint', 0],
    ],
  };
  const musique = {
    ...{
      id: '2hop__7_8',
      question: 'Who is the mother of the keeper?',
      answer: 'Mira Abel',
      answer_aliases: ['M. Abel'],
    },
    answerable: true,
    paragraphs: [
      { idx: 0, title: 'Lamp', paragraph_text: 'Its keeper is Jon Abel.', is_supporting: true },
      { idx: 1, title: 'Mira Abel', paragraph_text: 'A painter.', is_supporting: false },
    ],
  };

  test('LongBench: JSON Lines; the passages of the context are memories, those with the answer the evidence', async () => {
    const file = folder.file('lines.jsonl');
    const yesNo = { ...longBench, answers: ['no'], context: 'Passage 1:\nThere is no mill.\n' };
    writeFileSync(file, [longBench, yesNo].map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { users } = await read('hotpotqa', file);
    expect(users[0]!.memories.map(({ memoryId, content }) => [memoryId, content])).toEqual([
      ['h001-p01', 'Rovel\nThe mill of Rovel is of 1610.'],
      ['h001-p02', 'Tarn\nThe mill of Tarn is of 1702.'],
    ]);
    expect(users[0]!.items).toMatchObject([{ itemId: 'h001', answer: 'Rovel', evidence: ['h001-p01'] }]);
    expect(users[1]!.items).toMatchObject([{ evidence: [], category: 'answer in no passage' }]);
  });

  test('HotpotQA and 2WikiMultiHopQA: passages of the supporting facts are the evidence, in lists or in columns', async () => {
    const asColumns = {
      ...published,
      context: { title: published.context.map(([title]) => title), sentences: published.context.map(([, all]) => all) },
      supporting_facts: { title: ['Mill of Rovel', 'Ada Quint'], sent_id: [0, 0] },
    };
    const { users, declared } = await read('2wiki', written([published, asColumns]));
    expect(declared).toMatchObject({ primaryMetric: 'tokenF1', licence: 'Apache-2.0', texts: 'withheld' });
    expect(users[0]!.memories[0]!.content).toBe('Mill of Rovel: Ada Quint built it. It stands on the Tarn.');
    for (const [index, user] of users.entries()) {
      const id = `w00${index + 1}`;
      expect(user.items).toMatchObject([{ evidence: [`${id}-p01`, `${id}-p03`], category: 'bridge' }]);
    }
  });

  test('MuSiQue: supporting paragraphs are the evidence; what cannot be answered is absent', async () => {
    const none = { ...musique, id: '2hop__9', answerable: false };
    const { users } = await read('musique-s', written([musique, none]));
    const [one, other] = users.map(({ items }) => items[0]!);
    expect(one).toMatchObject({ acceptedAnswers: ['M. Abel'], evidence: ['q001-p01'], category: '2hop' });
    expect(other).toMatchObject({ answer: null, evidence: [], category: 'unanswerable' });
  });

  const { answer: _, ...unanswered } = published;
  test.each([
    ['f: [0]: answer expected string, got nothing', unanswered],
    [
      'f: [0]: context expected paragraphs such as [["title", ["sentence", …]], …], got "x"',
      { ...published, context: 'x' },
    ],
    ['f: [0]: context expected passages, got ""', { ...longBench, context: '' }],
    ['f: [0]: paragraphs[0].is_supporting expected boolean', { ...musique, paragraphs: [{ paragraph_text: 'x' }] }],
  ])('bad data: %s', (message, content) => expectRefused('2wiki', [content], message));
});

describe('multi-turn', () => {
  const context = ['Ada Quint built the mill.', 'Jon Abel keeps the lamp.']
    .map((text) => text.padEnd(900, ' It rains.'))
    .join('\n\n');
  const turns = [
    { input: 'Who built the mill?', answer: 'Ada Quint' },
    { input: 'Who keeps the lamp?', answer: ['Jon Abel', 'Abel'], options: ['Jon Abel', 'Ada Quint'] },
    { input: 'What year is it?', answer: 1610 },
  ];

  test('a context is a user; its questions are one conversation, with the answers before as history', async () => {
    const file = written({ id: 0, context, multi_turns: turns });
    const dataset = await read('multi-turn', file);
    const [{ memories, items }] = dataset.users as [Dataset['users'][number]];
    expect(memories.map(({ content }) => content.slice(0, 25))).toEqual([
      'Ada Quint built the mill.',
      'Jon Abel keeps the lamp. ',
    ]);
    expect(
      items.map(({ itemId, answer, evidence, condition, conversation }) => [
        itemId,
        answer,
        evidence,
        condition,
        conversation,
      ]),
    ).toEqual([
      ['context-001-q01', 'Ada Quint', ['context-001-p01'], 1, 'context-001'],
      ['context-001-q02', 'Jon Abel', ['context-001-p02'], 2, 'context-001'],
      ['context-001-q03', '1610', [], 3, 'context-001'],
    ]);
    expect(items[1]).toMatchObject({
      ...{ query: 'Who keeps the lamp?\nA. Jon Abel\nB. Ada Quint', acceptedAnswers: ['Abel'] },
    });
    expect(notesOf(dataset, file)).toEqual([
      'questions whose answer is in no part of the context have no evidence (at f:1)',
    ]);
  });

  test('a context without paragraphs is cut between sentences, else between words', () => {
    const lengths = (text: string): number[] => splitContext(text).map((part) => part.text.length);
    expect(lengths('x'.repeat(3000))).toEqual([1200, 1200, 600]);
    expect(lengths('A sentence of words. '.repeat(100))).toEqual([1196, 902]);
    expect(splitContext('One.\n\nTwo.')).toEqual([{ text: 'One.\n\nTwo.' }]);
  });

  test.each([
    ['f: [0]: multi_turns expected at least one question', [{ context: 'x', multi_turns: [] }]],
    [
      'f: [0]: multi_turns[0].answer expected an answer, or a list of them',
      [{ context: 'x', multi_turns: [{ input: 'y' }] }],
    ],
  ])('bad data: %s', (message, content) => expectRefused('multi-turn', content, message));
});

describe('beam', () => {
  const say = (id: number, role: string, content: string, anchor?: string) => ({
    ...{ role, id, content },
    ...(anchor === undefined ? {} : { time_anchor: anchor, index: '1,1', question_type: 'main_question' }),
  });
  const chat = [
    {
      ...{ batch_number: 1, time_anchor: null },
      turns: [[say(0, 'user', 'I plan a mill. ->-> 1,1', 'March-15-2024'), say(1, 'assistant', 'Good.')]],
    },
    { batch_number: 2, turns: [[say(2, 'user', 'It shall have 3 wheels. ->-> 2,N/A', 'April-02-2024')]] },
  ];
  const questions = {
    abstention: [{ question: 'Who paid?', ideal_response: 'There is nothing on it.', rubric: ['nothing on it'] }],
    information_extraction: [
      {
        ...{ question: 'How many wheels?', answer: 'It shall have 3 wheels.', source_chat_ids: [2] },
        rubric: ['LLM response should state: 3 wheels'],
      },
      { question: 'How do I plan?', answer: 'So and so.', source_chat_ids: [9], rubric: ['a', 'b', 'c'] },
      { question: 'Where was I?', answer: 'In Paris and Rome.', rubric: ['Paris', 'Rome'] },
    ],
    contradiction_resolution: [
      {
        ...{
          question: 'Do I plan a mill?',
          ideal_answer: 'You said both.',
          source_chat_ids: { first: [0], second: [2, 0] },
        },
        rubric: ['LLM response should mention: there is a contradiction', 'which is right?'],
      },
    ],
    instruction_following: [{ question: 'Plan it', expected_compliance: 'In a list.', rubric: ['a list'] }],
  };

  test('messages are memories with their day, without the marks of the plan; golds by kind', async () => {
    const file = written([{ conversation_id: 7, chat, probing_questions: questions }]);
    const dataset = await read('beam', file);
    const [{ memories, items }] = dataset.users as [Dataset['users'][number]];
    expect(memories.map(({ memoryId, content, createdAt }) => [memoryId, content, createdAt.slice(0, 19)])).toEqual([
      ['chat-7/0', '15 March 2024, user: I plan a mill.', '2024-03-15T00:00:00'],
      ['chat-7/1', '15 March 2024, assistant: Good.', '2024-03-15T00:00:01'],
      ['chat-7/2', '2 April 2024, user: It shall have 3 wheels.', '2024-04-02T00:00:00'],
    ]);
    expect(items.map(({ category, answer, evidence, nuggets }) => [category, answer, evidence, nuggets])).toEqual([
      ['information_extraction', 'It shall have 3 wheels.', ['chat-7/2'], undefined],
      ['information_extraction', 'So and so.', [], ['a', 'b', 'c']],
      ['information_extraction', 'In Paris and Rome.', [], ['Paris', 'Rome']],
      ['abstention', null, [], undefined],
      [
        'contradiction_resolution',
        'You said both.',
        ['chat-7/0', 'chat-7/2'],
        ['there is a contradiction', 'which is right?'],
      ],
      ['instruction_following', 'In a list.', [], ['a list']],
    ]);
    expect(items[0]!.acceptedAnswers).toEqual(['3 wheels']);
    expect(notesOf(dataset, file)).toEqual([
      'source_chat_ids that name no message of the chat were left out (at f: [0]: probing_questions.information_extraction[1])',
    ]);
  });

  test('a folder of chats, as published or side by side, equals one file; its hash is of the bytes of both', async () => {
    const make = (path: string, content: unknown): void => {
      const file = folder.file(path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(content));
    };
    make('chats/10-chat.json', chat);
    make('chats/10-questions.json', questions);
    make('chats/2/chat.json', [{ 'plan-1': chat }]);
    make('chats/2/probing_questions/probing_questions.json', questions);
    const dataset = await read('beam', folder.file('chats'));
    expect(dataset.users.map(({ userId, memories, items }) => [userId, memories.length, items.length])).toEqual([
      ['chat-2', 3, 6],
      ['chat-10', 3, 6],
    ]);
    const bytes = [[{ 'plan-1': chat }], questions, chat, questions].map((one) => JSON.stringify(one)).join('');
    expect(dataset.brought!.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  const asked = (change: object) => [{ conversation_id: 7, chat, probing_questions: { event_ordering: [change] } }];
  test.each([
    ['f: [0]: chat expected array', [{ conversation_id: 7, chat: 'x', probing_questions: {} }]],
    [
      'f: [0]: chat[0].turns[0] expected messages, got 5',
      [{ conversation_id: 7, chat: [{ turns: [5] }], probing_questions: {} }],
    ],
    [
      'f: [0]: chat[0][0]: role expected user or assistant, got "asistant"',
      [{ conversation_id: 7, chat: [[{ role: 'asistant', id: 1, content: 'x' }]], probing_questions: {} }],
    ],
    [
      'f: [0]: chat[0]: time_anchor expected a day, got "Mai"',
      [{ conversation_id: 7, chat: [say(1, 'user', 'x', 'Mai')], probing_questions: {} }],
    ],
    [
      'f: [0]: probing_questions expected lists of questions by kind',
      [{ conversation_id: 7, chat, probing_questions: "{'a': []}" }],
    ],
    ['f: [0]: probing_questions.event_ordering[0]: rubric expected', asked({ question: 'x', answer: 'y' })],
    ['f: [0]: probing_questions.event_ordering[0]: answer, ideal_response', asked({ question: 'x', rubric: ['y'] })],
  ])('bad data: %s', (message, content) => expectRefused('beam', content, message));

  test('a folder without chats', async () => {
    mkdirSync(folder.file('none'));
    await expect(read('beam', folder.file('none'))).rejects.toThrow('none: has no chats with questions');
  });
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

  test('questions to abstain from are absent; those with a rubric instead of an answer are left out', async () => {
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

  test('refuses a repeated entry and an invalid one', async () => {
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
  expect(await verifyDataset(source!)).toMatchObject({ file: 'locomo', name: 'locomo', valid: true });
});
