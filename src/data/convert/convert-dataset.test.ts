import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchFailure } from '../../../test/fixtures/bench-failure.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import type { DatasetUser } from '../dataset.ts';
import { readDataset } from '../read-dataset.ts';
import { fileSource } from '../dataset-source.ts';
import { verifyDataset } from '../verify/verify-dataset.ts';
import { convertDataset, type Conversion, type ConversionOptions, type SourceFormat } from './convert-dataset.ts';

const fixtures = join(import.meta.dirname, '../../../test/fixtures/conversion');
const folder = temporaryFolder();

let written = 0;
function file(name: string, content: string | Buffer): string {
  const path = folder.file(`${++written}-${name}`);
  writeFileSync(path, content);
  return path;
}

interface Converted extends Conversion {
  readonly user: (id: string) => DatasetUser;
}

async function converted(from: SourceFormat, path: string, more: Partial<ConversionOptions> = {}): Promise<Converted> {
  const out = folder.file(`${++written}.jsonl`);
  const conversion = await convertDataset({ from, file: path, out, ...more });
  expect(await verifyDataset(fileSource(out))).toMatchObject({ errors: 0 });
  const { users } = await readDataset(out);
  return { ...conversion, user: (id) => users.find(({ userId }) => userId === id)! };
}

async function failure(from: SourceFormat, path: string, more: Partial<ConversionOptions> = {}): Promise<string> {
  const out = folder.file('failed.jsonl');
  const { message } = await benchFailure(convertDataset({ from, file: path, out, ...more }));
  expect(existsSync(out)).toBe(false);
  expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  return message.replaceAll(path, 'f');
}

test.each(['not a language', ''])('refuses the language %j by its option', async (language) => {
  const path = folder.file('a.jsonl');
  writeFileSync(path, '{"question":"Who?","answer":"Ann"}');
  expect(await failure('jsonl', path, { language })).toBe(
    `--language ${JSON.stringify(language)}: expected a language tag`,
  );
});

describe('CSV', () => {
  test('keeps quotes, line breaks, emoji and Chinese, and finds evidence by row, by repeat and by text', async () => {
    const { user, notes, ...counts } = await converted('csv', join(fixtures, 'memories.csv'));
    expect(counts).toMatchObject({ users: 2, memories: 3, items: 5 });
    const [dog, shopping] = user('ann').memories;
    expect(dog).toMatchObject({ content: 'My dog is called "Brenko", and he barks.', memoryId: 'ann-m01' });
    expect(shopping!.content).toBe('Shopping:\n- two pears\n- 🥥 from the market');
    expect(user('ann').items.map(({ answer, evidence }) => [answer, evidence])).toEqual([
      ['Brenko', ['ann-m01']],
      ['Brenko; my dog', ['ann-m01']],
      ['two pears', ['ann-m02']],
    ]);
    expect(user('bo').items.map(({ query, answer, evidence }) => [query, answer, evidence])).toEqual([
      ['我的猫叫什么？', '小白', ['bo-m01']],
      ['我住在哪里？', null, []],
    ]);
    expect(user('ann').items[0]!.askedAt).toBe('2026-03-03T00:00:00.000Z');
    expect(notes.map((note) => note.replaceAll(join(fixtures, 'memories.csv'), 'f'))).toEqual([
      'created_at without a time zone was taken as UTC (2 times, first at f:3)',
      'a memory that several rows repeat was written once (at f:9)',
      'columns that were not used: Mood (at f)',
      "questions without asked_at are asked a day after their user's last memory (5 times, first at f:2)",
    ]);
  });

  test('is read with semicolons or tabs, and a byte order mark', async () => {
    for (const delimiter of [';', '\t']) {
      const rows = ['user|memory|question|answer', 'ann|I have a cat, a dog|Which pets?|a cat, a dog'];
      const text = `\uFEFF${rows.join('\r\n').replaceAll('|', delimiter)}`;
      const { user, notes } = await converted('csv', file('a.csv', text));
      expect(user('ann').items).toMatchObject([{ answer: 'a cat, a dog', evidence: ['ann-m01'] }]);
      expect(notes[0]).toMatch(/^memories without created_at were given times in the order of the file/);
    }
  });

  test('rows behind a line break of Windows in a cell keep their lines', async () => {
    const rows = 'user,memory,created_at\r\nann,"Rex\r\nbarks",2026-03-01\r\nann,Ivo barks,';
    expect(await failure('csv', file('a.csv', `${rows}01/03/2026\r\n`))).toMatch(/^f:4: created_at expected a time/);
    expect(await failure('csv', file('a.csv', `${rows}2026-03-01,1\r\n`))).toMatch(/^f:4: is not CSV/);
  });

  test('every field of ours can be a column', async () => {
    const text = [
      'user_id,memory_id,content,created_at,value,preference,supersedes,query,item_id,answer,aliases,evidence,superseded,category,phrasing,asked_at,history,relation,answer_prefix,language,passages,system_prompt,updated_at,uri,scope,links,confidence',
      'ann,new,I live in Turin,2026-02-01,Turin,yes,old,,,,,,,,,,,city,,,,,2026-02-03,user/home.md,project,old; new,0.9',
      'ann,old,I live in Oslo,2026-01-01,Oslo,0,,,,,,,,,,,,,,,,,,,,,',
      'ann,,,,,,,Where?,q,Turin,Torino; Augusta,new;old,Oslo,update,held-out,2026-03-01T00:00:00Z,"[{""role"":""user"",""content"":""Hi""}]",city,You moved to,en,I live in Oslo;new,Be brief.,,,,,',
    ].join('\n');
    const { user } = await converted('csv', file('all.csv', text));
    expect(user('ann').memories[1]).toMatchObject({
      ...{ memoryId: 'new', value: 'Turin', relation: 'city', preference: true, supersedes: 'old' },
      ...{ uri: 'user/home.md', scope: 'project', links: ['old', 'new'], confidence: 0.9 },
      updatedAt: '2026-02-03T00:00:00Z',
    });
    expect(user('ann').items[0]).toEqual({
      ...{ itemId: 'q', userId: 'ann', query: 'Where?', answer: 'Turin', acceptedAnswers: ['Torino', 'Augusta'] },
      ...{ answerPrefix: 'You moved to', systemPrompt: 'Be brief.', relation: 'city', language: 'en' },
      ...{ passages: ['old', 'new'], evidence: ['new', 'old'], superseded: ['Oslo'], category: 'update' },
      ...{ phrasing: 'held-out', askedAt: '2026-03-01T00:00:00Z' },
      history: [{ role: 'user', content: 'Hi' }],
    });
  });

  test('a column with nearly the name of a field is named with it', async () => {
    const rows = 'user,memory,queston,question,anser,mood\nann,I have a cat,,Which pet?,a cat,fine';
    const { notes } = await converted('csv', file('near.csv', rows));
    expect(notes.find((note) => note.startsWith('columns'))).toMatch(
      /^columns that were not used: queston.*, anser \(did you mean answer\?\), mood/,
    );
  });

  const either = 'f:2: expected a memory, a question or both';
  const asked = 'user,memory_id,memory,question,answer,evidence\n';
  const timed = 'user,memory,created_at,question,answer,asked_at\n';
  test.each([
    ['f: is empty', ''],
    ['f: has no questions', 'user,memory\nann,x\n'],
    ['f:3: is not CSV: Invalid Record Length: expect 3, got 2', 'user,memory,question\nann,x,y\nann,x\n'],
    ['f:2: is not CSV: Quote Not Closed', 'user,memory\nann,"x\n'],
    ['f:1: column "user" occurs twice', 'user,user\na,b\n'],
    ['f:2: columns "memory" and "content" both hold memory', 'user,memory,content\nann,x,y\n'],
    ['f:2: user expected a text, got nothing', 'name,memory\nann,x\n'],
    ['f:2: user expected a text, got nothing; column usr (did you mean user?)', 'usr,memory\nann,x'],
    ['f:2: expected a memory, a question or both, got columns user, text', 'user,text\nann,x\n'],
    [`${either}, got columns user, queston (did you mean question?)`, 'user,queston\nann,Which pet?'],
    [
      'f:4: created_at expected a time such as 2026-03-01T09:00:00Z or 2026-03-01, got "tomorrow"',
      'user,memory,created_at\nann,"x\ny",2026-01-01\nann,z,tomorrow\n',
    ],
    [
      'f:3: created_at expected a time for every memory or for none, got nothing',
      `${timed}a,x,2026-01-01,,,\na,y,,,,\n`,
    ],
    [
      'f:3: evidence expected a memory of user a, got "m-02": did you mean m-01?',
      `${asked}a,m-01,x,,,\na,,,y,z,m-02\n`,
    ],
    ['f:3: evidence expected a memory of user a, got "m"', `${asked}b,m,x,,,\na,,,y,z,m\n`],
    ['f:2: evidence expected a memory created before askedAt, got "a-m01"', `${timed}a,x,2026-01-02,y,z,2026-01-01\n`],
    ['f:2: evidence expected none where answer is null, got ["m"]', `${asked}a,m,x,y,,m\n`],
    ['f:3: memory_id expected a unique id, got "m", as in f:2', `${asked}a,m,x,,,\na,m,y,,,\n`],
    ['f:3: item_id expected a unique id, got "q", as in ', 'user,item_id,question,answer\nann,q,x,\nann,q,y,\n'],
    [
      'f:2: supersedes expected an earlier memory, got "b"',
      'user,memory_id,memory,created_at,supersedes\nann,a,x,2026-01-01,b\nann,b,y,2026-01-02,\n',
    ],
    ['f:2: confidence expected a number, got "high"', 'user,memory,confidence\nann,x,high\n'],
    ['f:2: scope expected global or project, got "mine"', 'user,memory,scope\nann,x,mine\n'],
    ['f:2: preference expected true or false, got "perhaps"', 'user,memory,preference\nann,x,perhaps\n'],
    ['f:2: phrasing expected known or held-out, got "odd"', 'user,question,phrasing\nann,x,odd\n'],
    ['f:2: history expected a JSON list, got "hello"', 'user,question,history\nann,x,hello\n'],
  ])('bad data: %s', async (message, text) => {
    expect((await failure('csv', file('bad.csv', text))).slice(0, message.length)).toBe(message);
  });

  test('bytes that are not UTF-8, a folder and a missing file', async () => {
    const latin = file('latin.csv', Buffer.from('user,memory\nann,caf\xe9\n', 'latin1'));
    expect(await failure('csv', latin)).toBe('f: is not UTF-8, somewhere after byte 0');
    expect(await failure('csv', folder.path)).toBe('f: is a folder, expected a file');
    expect(await failure('csv', folder.file('none.csv'))).toBe('f: no such file');
  });
});

describe('JSON Lines', () => {
  const mapped =
    'user=speaker,memory_id=id,memory=text,created_at=when,question=ask,answer=gold,accepted_answers=also,' +
    'evidence=from,superseded=old,supersedes=replaces,category=kind';

  test('other names of fields are mapped; numbers become texts', async () => {
    const { user, notes } = await converted('jsonl', join(fixtures, 'turns.jsonl'), { map: mapped });
    expect(notes).toEqual([]);
    expect(user('ann').memories[1]).toMatchObject({
      content: 'I have moved to "Turin",\nItaly 🇮🇹.',
      value: 'Turin',
      supersedes: 'm1',
    });
    expect(user('ann').items).toMatchObject([
      { answer: 'Turin', acceptedAnswers: ['Torino'], evidence: ['m2'], superseded: ['Oslo'], category: 'update' },
      { answer: '41', evidence: ['m1', 'm2'], history: [{ role: 'user', content: 'I am 41.' }] },
      { query: '我的车叫什么？', answer: null, evidence: [] },
    ]);
  });

  test('a name for the data set, and the Chinese refusal', async () => {
    const path = file('zh.jsonl', '{"user":"a","question":"几岁？","answer":"9"}\n');
    const { file: out } = await converted('jsonl', path, { language: 'zh', name: '记忆' });
    expect(JSON.parse(readFileSync(out, 'utf8').split('\n')[0]!)).toMatchObject({
      name: '记忆',
      language: 'zh',
      unknownAnswer: '我不知道。',
      primaryMetric: 'contains',
    });
  });

  test.each([
    ['gold', '--map "gold": expected field=column'],
    ['anwser=gold', '--map: unknown field "anwser": did you mean answer?'],
    ['answer=gold,answer=kind', '--map answer=kind: this field or column is mapped twice'],
    ['answer=gold,user=speaker,memory=txt', 'f: has no column "txt", which --map names for memory: did you mean text?'],
  ])('--map %s', async (wrong, message) => {
    const asks = wrong.includes('txt') ? 'question' : 'ask';
    const lines = `{"speaker":"a","text":"x","${asks}":"y"}\n{"speaker":"a","question":"y","gold":"x"}\n`;
    expect(await failure('jsonl', file('map.jsonl', lines), { map: wrong })).toBe(message);
  });

  test.each([
    ['f:2: expected an object, got []', '{"user":"a","question":"x"}\n[]\n'],
    ['f:1: user expected a text, got {"id":1}', '{"user":{"id":1},"question":"x"}\n'],
  ])('bad data: %s', async (message, text) => {
    expect(await failure('jsonl', file('bad.jsonl', text))).toBe(message);
  });

  test('a file is not written over itself', async () => {
    const path = file('self.jsonl', '{"user":"a","question":"x"}\n');
    await expect(convertDataset({ from: 'jsonl', file: path, out: path })).rejects.toThrow(
      /is the file to be converted$/,
    );
  });
});

describe('LoCoMo', () => {
  const path = join(fixtures, 'conversations.json');

  test('turns become memories with day, speaker and caption, in the order of the sessions', async () => {
    const { user } = await converted('locomo', path);
    const boat = 'Look at this "boat": [image: a photo of a red boat]';
    expect(user('conv-1').memories.map(({ memoryId, content, createdAt }) => [memoryId, content, createdAt])).toEqual([
      ['conv-1/D1:1', '8 May 2023, Mira: Hi Tom! I planted 12 tulips yesterday.', '2023-05-08T13:56:00.000Z'],
      ['conv-1/D1:2', `8 May 2023, Tom: ${boat}`, '2023-05-08T13:56:01.000Z'],
      ['conv-1/D1:3', '8 May 2023, Mira: [image: a cat 🐈 on a chair]', '2023-05-08T13:56:02.000Z'],
      ['conv-1/D2:1', '1 June 2023, Tom: I sold the boat.', '2023-06-01T09:05:00.000Z'],
      ['conv-1/D10:1', '13 September 2023, Tom: 我搬到了柏林。', '2023-09-13T00:09:00.000Z'],
    ]);
  });

  test('questions get their evidence; numbers are texts; adversarial ones are absent', async () => {
    const { user, notes } = await converted('locomo', path);
    expect(user('conv-1').items.map(({ answer, evidence, category }) => [category, answer, evidence])).toEqual([
      ['single-hop', '12', ['conv-1/D1:1']],
      ['temporal', '7 May 2023', ['conv-1/D1:1']],
      ['multi-hop', 'he sold it', ['conv-1/D1:2', 'conv-1/D2:1']],
      ['open-domain', '柏林', ['conv-1/D10:1']],
      ['adversarial', null, []],
    ]);
    expect(user('conv-2').items[0]).toMatchObject({ evidence: ['conv-2/D1:1'], askedAt: '2024-01-21T16:04:00.000Z' });
    expect(notes.map((note) => note.replace(path, 'f'))).toEqual([
      'dates of sessions, which name no time zone, were taken as UTC (4 times, first at f: conv-1)',
      'turns without text and caption were left out (at f: conv-1 session_1[3])',
      'evidence that is not the id of a turn was left out (at f: conv-1 qa[3])',
      'evidence that names no turn of its conversation was left out (at f: conv-1 qa[3])',
      'evidence of adversarial questions was left out: nothing answers them (at f: conv-1 qa[4])',
      "questions without asked_at are asked a day after their user's last memory (6 times, first at f: conv-1 qa[0])",
    ]);
  });

  const turn = { speaker: 'Ida', dia_id: 'D1:1', text: 'Hello' };
  const sample = (conversation: object, qa: readonly object[] = []) => [{ sample_id: 'c', conversation, qa }];
  const twice = [turn, { ...turn, text: 'Bye' }];
  const question = { question: 'x', answer: 'y', evidence: [], category: 1 };
  const spring = { session_1_date_time: 'spring' };
  const dated = { session_1: [turn], session_1_date_time: '1:56 pm on 8 May, 2023' };
  test.each([
    ['f: is not JSON: ', '{'],
    ['f: [0]: conversation expected record, got nothing', [{ qa: [] }]],
    ['f: c: conversation.session_1_date_time expected a date, got nothing', sample({ session_1: [turn] })],
    ['f: c: conversation.session_1_date_time expected a date, got "spring"', sample({ ...dated, ...spring })],
    ['f: c: conversation.session_1 expected a list of turns, got {}', sample({ session_1: {} })],
    [
      'f: c session_1[1]: dia_id expected a number of session and turn such as D1:3, got "2"',
      sample({ ...dated, session_1: [turn, { ...turn, dia_id: '2' }] }),
    ],
    ['f: c session_1[1]: memory_id expected a unique id, got "c/D1:1"', sample({ ...dated, session_1: twice })],
    ['f: c qa[0]: category expected 1 to 5, got 6', sample(dated, [{ ...question, category: 6 }])],
    [
      'f: c qa[0]: answer expected a text or a number, got nothing',
      sample(dated, [{ ...question, answer: undefined }]),
    ],
    ['f: c qa[0]: question expected string, got nothing', sample(dated, [{ answer: 'y', category: 1 }])],
    ['f: has no questions', sample(dated)],
  ])('bad data: %s', async (message, content) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    expect((await failure('locomo', file('bad.json', text))).slice(0, message.length)).toBe(message);
  });

  test('refuses --map', async () => {
    expect(await failure('locomo', path, { map: 'answer=gold' })).toBe('--map: files of locomo have fixed field names');
  });
});

test('a file of ours without ids keeps its declaration, its fields and null for a refusal', async () => {
  const header = { type: 'dataset', name: 'mine', language: 'zh', version: 3, unknownAnswer: '不知道呀' };
  const memory = { type: 'memory', userId: 'ann', content: '我住在都灵。', memoryType: 'fact' };
  const items = [
    {
      type: 'item',
      userId: 'ann',
      query: '我住在哪里？',
      answer: '都灵',
      aliases: '都林；Torino',
      conversation: 'c',
      condition: 2,
    },
    { type: 'item', userId: 'ann', query: '我的猫叫什么？', answer: '我不知道。' },
  ];
  const path = file('ours.jsonl', [header, memory, ...items].map((one) => JSON.stringify(one)).join('\n'));
  const { file: out, user, notes } = await converted('jsonl', path);
  expect(await readDataset(out)).toMatchObject({ name: 'mine', language: 'zh', unknownAnswer: '不知道呀' });
  expect(user('ann').memories[0]).toMatchObject({ memoryId: 'ann-m01', memoryType: 'fact' });
  expect(user('ann').items).toMatchObject([
    { answer: '都灵', acceptedAnswers: ['都林', 'Torino'], conversation: 'c', condition: 2 },
    { answer: null },
  ]);
  const renamed = await converted('jsonl', path, { name: 'theirs', language: 'zh-Hant' });
  expect(await readDataset(renamed.file)).toMatchObject({
    name: 'theirs',
    language: 'zh-Hant',
    unknownAnswer: '不知道呀',
  });
  expect(notes[1]).toBe(`an answer such as "I don't know" was written as null: abstaining is right (at ${path}:4)`);
});

test('64-bit ids stay whole, spellings of a name are one user, and ids are of a user', async () => {
  const row = (user: string, code: string) =>
    `{"user":${user},"memory_id":"m","memory":"My code is ${code}.","item_id":"q","question":"My code?","answer":"${code}"}`;
  const rows = [row('1234567890123456789', '4471'), row('1234567890123456788', '9902'), row('"Zoé"', '1111')];
  const again = '{"user":"Zoe\u0301","question":"What code?","answer":"1111","evidence":"m"}';
  const { users, user } = await converted('jsonl', file('ids.jsonl', [...rows, again].join('\n')));
  expect(users).toBe(3);
  expect(user('1234567890123456789').memories[0]!.content).toBe('My code is 4471.');
  expect(user('1234567890123456788').items).toMatchObject([{ answer: '9902', evidence: ['1234567890123456788:m'] }]);
  expect(user('Zoé').items).toHaveLength(2);
});

test('a line of ten times as many columns, answers or characters takes far less than a hundred times as long', async () => {
  const row = { user: 'u', memory: 'My dog is Rex.', question: 'dog?', answer: 'Rex' };
  const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, 'x']));
  const lines = (size: number) => [
    { ...row, ...wide(size) },
    { ...row, accepted_answers: Array.from({ length: 2 * size }, (_, index) => `Rex ${index}`) },
    { ...row, answer: 'Rex '.repeat(6 * size) },
  ];
  const convertAll = async (size: number): Promise<number> => {
    const start = performance.now();
    for (const line of lines(size)) {
      const wide = file('wide.jsonl', JSON.stringify(line));
      await convertDataset({ from: 'jsonl', file: wide, out: folder.file('wide-out.jsonl') });
    }
    return performance.now() - start;
  };
  await convertAll(400);
  expect((await convertAll(40_000)) / (await convertAll(4000))).toBeLessThan(50);
});

test('a line of thousands of columns without a memory or a question, and one of a long evidence, are refused', async () => {
  const columns = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`c${index}`, 'x']));
  const none = file('none.jsonl', JSON.stringify({ ...columns, user: 'u' }));
  expect(await failure('jsonl', none)).toContain('expected a memory, a question or both');
  const row = { user: 'u', memory: 'My dog is Rex.', question: 'dog?', answer: 'Rex', evidence: 'x'.repeat(1_000_000) };
  expect((await failure('jsonl', file('far.jsonl', JSON.stringify(row)))).length).toBeLessThan(1000);
});
