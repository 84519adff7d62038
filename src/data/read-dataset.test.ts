import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { benchFailure, expectFailure } from '../../test/fixtures/bench-failure.ts';
import { header, item, late, memory, other, question, writeLines } from '../../test/fixtures/dataset-lines.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { fileSource } from './dataset-source.ts';
import { readDataset, readDatasetSource } from './read-dataset.ts';
import { visibleMemories } from './visible-memories.ts';
import { resolveUserLanguage } from './dataset.ts';

const folder = temporaryFolder();
const file = (content: Parameters<typeof writeLines>[1]): string => writeLines(folder, content);

async function failure(path: string): Promise<{ code: string; message: string }> {
  const { code, message } = await benchFailure(readDataset(path));
  return { code, message: message.replaceAll(`${folder.path}/`, '').replaceAll(/data-\d+/g, 'f') };
}

test('requires passages of every item where they are needed, an empty list included', async () => {
  const read = (...items: readonly object[]) => readDatasetSource(fileSource(file([memory('m'), ...items])), true);
  const { users } = await read(item('q1', { passages: ['m'] }), item('q2', { passages: [] }));
  expect(users[0]!.items.map(({ passages }) => passages)).toEqual([['m'], []]);
  const message = /:3: passages expected for --retriever given, got nothing \(2 of 3 items list none\)$/;
  await expectFailure(read(item('q1', { passages: [] }), item('q2'), item('q3')), 'bad-data', message);
});

test('refuses questions without answers, and names the suite for them', async () => {
  const path = file([memory('m'), question('q')]);
  const message = `${path}:2: this question has no answer, so only retrieval can be measured`;
  await expectFailure(readDataset(path), 'bad-data', message, /--suite retrieval/);
});

test('memories come in order of creation, items and users in order of the file', async () => {
  const path = file([
    item('q2', { userId: 'u02', history: [{ role: 'user', content: '../../etc/passwd' }] }),
    item('q1', { evidence: ['b'] }),
    memory('c', { createdAt: '2026-03-02T00:30:00+01:00' }),
    memory('b', { value: 'Brenko', createdAt: '2026-03-02T00:00:00Z', supersedes: 'a' }),
    memory('a', { preference: true }),
    item('q0', { answer: null, phrasing: 'held-out' }),
  ]);
  const dataset = await readDataset(path);
  expect(dataset).toMatchObject({ language: 'en', unknownAnswer: "I don't know." });
  const memories = [{ memoryId: 'a', preference: true }, { memoryId: 'c', preference: false }, { memoryId: 'b' }];
  expect(dataset.users).toMatchObject([
    { userId: 'u01', memories, items: [{ itemId: 'q1' }, { itemId: 'q0' }] },
    { userId: 'u02', items: [{ history: [{ role: 'user', content: '../../etc/passwd' }] }] },
  ]);
});

test('the first record describes the whole; the hash is of the bytes', async () => {
  const chinese = { name: 'recall-zh', language: 'zh', unknownAnswer: '我不知道。' };
  const records = [header({ ...chinese, seed: 7, userKinds: { u01: 'large' } }), memory('m'), item('q')];
  const text = `\uFEFF${records.map((record) => JSON.stringify(record)).join('\r\n')}\r\n\r\n`;
  const dataset = await readDataset(file(text));
  expect(dataset).toMatchObject({ ...chinese, users: [{ kind: 'large' }] });
  expect(dataset.sha256).toBe(createHash('sha256').update(text).digest('hex'));
});

test('a file declares itself, and users and items may have their own languages', async () => {
  const declared = { primaryMetric: 'contains', split: 'test', licence: 'CC0', note: 'made by hand' } as const;
  const of = (id: string, userId: string, more: object = {}) => item(id, { userId, ...more });
  const dataset = await readDataset(
    file([
      header({ ...declared, userLanguages: { u02: 'zh' } }),
      ...[of('a', 'u01'), of('b', 'u01', { language: 'zh' })],
      ...[of('c', 'u02'), of('d', 'u02', { language: 'en' })],
      ...[of('e', 'u03', { language: 'zh' }), of('f', 'u03', { language: 'zh' })],
    ]),
  );
  expect(dataset.declared).toEqual(declared);
  const chinese = { language: 'zh', unknownAnswer: '我不知道。' };
  const english = { language: 'en', unknownAnswer: 'No idea.' };
  expect(dataset.users.map(({ languageProfile }) => languageProfile)).toEqual([english, chinese, chinese]);
  const profiles = dataset.users.map(({ items, languageProfile }) =>
    items.map(({ language }) => resolveUserLanguage(language, languageProfile)),
  );
  expect(profiles).toMatchObject([
    [english, chinese],
    [chinese, { language: 'en' }],
    [chinese, chinese],
  ]);
});

test('aliases are accepted answers; relation, answer prefix and passages stay', async () => {
  const more = { relation: 'dog', answerPrefix: 'My dog is called', passages: ['b', 'a'] };
  const dataset = await readDataset(
    file([
      memory('a', { relation: 'dog', value: 'Brenko' }),
      memory('b'),
      item('q', { ...more, acceptedAnswers: ['Bren'], aliases: ['Brenko the dog'] }),
      item('r'),
    ]),
  );
  const [asked, plain] = dataset.users[0]!.items;
  expect(asked).toMatchObject({ ...more, acceptedAnswers: ['Bren', 'Brenko the dog'] });
  expect(asked).not.toHaveProperty('aliases');
  expect(Object.keys(plain!)).toEqual(
    'itemId userId query answer acceptedAnswers evidence superseded category askedAt history'.split(' '),
  );
  expect(dataset.users[0]!.memories[0]!.relation).toBe('dog');
});

test('lines that span many chunks of the stream are read whole', async () => {
  const content = `${'é'.repeat(400_000)}.`;
  const dataset = await readDataset(file([memory('m', { content }), item('q')]));
  expect(dataset.users[0]!.memories[0]!.content).toBe(content);
});

test('a memory is visible from its creation on', async () => {
  const path = file([
    memory('before'),
    memory('at', { createdAt: '2026-06-01T11:00:00+02:00' }),
    memory('after', { createdAt: '2026-06-01T09:00:01Z' }),
    item('q'),
  ]);
  const user = (await readDataset(path)).users[0]!;
  expect(visibleMemories(user, user.items[0]!).map((each) => each.memoryId)).toEqual(['before', 'at']);
});

const types = 'dataset or memory or item or question';
const control = 'expected an id without control characters, got "';
const system = { role: 'system', content: 'x' };
const stranger = { userLanguages: { u1: 'zh' } };
const naming = { evidence: ['n'] };
const updatedAt = '2020-01-01T00:00:00Z';
const misspelt = { role: 'user', content: 'x', contnet: 'y' };

/** Messages behind `f.jsonl:`, and the lines at fault. */
const bad: readonly (readonly [string, readonly (object | string)[]])[] = [
  ['2: is not JSON', [memory('m'), '{"type":']],
  ['1: expected an object, got [1]', ['[1]']],
  [`1: type expected ${types}, got "memroy": did you mean memory?`, [memory('m', { type: 'memroy' })]],
  [`1: type expected ${types}, got nothing`, [{}]],
  ['1: query expected string, got nothing', [item('q', { query: undefined })]],
  ['1: answer expected string, got 7', [item('q', { answer: 7 })]],
  ['1: history[0].role expected user or assistant, got "system"', [item('q', { history: [system] })]],
  ['1: evidnce is not a field of this record: did you mean evidence?', [item('q', { evidnce: ['m'] })]],
  ['1: history[0].contnet is not a field of this record: did you mean content?', [item('q', { history: [misspelt] })]],
  ['1: phrasing expected known or held-out, got "helder": did you mean held-out?', [item('q', { phrasing: 'helder' })]],
  [`2: memoryId ${control}`, [memory('m'), memory('a\u001b]0;owned\u0007')]],
  [`2: userId ${control}`, [memory('m'), memory('a', { userId: 'u\u009b2J' })]],
  [`2: itemId ${control}`, [memory('m'), item('q\u202eevil')]],
  [`2: category ${control}`, [memory('m'), item('q', { category: 'plain\n' })]],
  [`2: evidence[0] ${control}`, [memory('m'), item('q', { evidence: ['a\u0000'] })]],
  ['2: passages expected a memory of user u01, got "n"', [memory('m'), item('q', { passages: ['n'] })]],
  ['2: passages expected each memory once, got "m" twice', [memory('m'), item('q', { passages: ['m', 'm'] })]],
  ['2: passages expected a memory created before askedAt', [memory('m', late), item('q', { passages: ['m'] })]],
  ['1: content expected some text, not blank, got ""', [memory('m', { content: '' })]],
  ['1: content expected at most 8 MiB of text, got "€€€', [memory('m', { content: '€'.repeat(2_800_000) })]],
  ['1: createdAt expected a time such as 2026-03-01T09:00:00Z, got "May"', [memory('m', { createdAt: 'May' })]],
  ['2: memoryId expected a unique id, got "m", as in f.jsonl:1', [memory('m'), memory('m')]],
  ['1: query expected some text, not blank, got ""', [item('q', { query: '' })]],
  ['1: query expected some text, not blank, got " \\n"', [item('q', { query: ' \n' })]],
  ['1: query expected a question of at most 128 KiB, got "xxx', [item('q', { query: 'x'.repeat(2 ** 17 + 1) })]],
  ['2: itemId expected a unique id, got "q"', [item('q'), item('q')]],
  ['2: evidence expected a memory of user u01, got "n": did you mean nn?', [memory('nn'), item('q', naming)]],
  ['2: evidence expected a memory of user u01, got "m"', [memory('m', other), item('q', { evidence: ['m'] })]],
  ['2: evidence expected a memory created before askedAt', [memory('m', late), item('q', { evidence: ['m'] })]],
  ['2: evidence expected none where answer is null', [memory('m'), item('q', { answer: null, evidence: ['m'] })]],
  ['1: supersedes expected an earlier memory, got "b"', [memory('a', { supersedes: 'b' }), memory('b'), item('q')]],
  ['1: updatedAt expected a time not before createdAt, got "2020-01-01T00:00:00Z"', [memory('a', { updatedAt })]],
  ['1: links expected a memory of user u01, got "b"', [memory('a', { links: ['a', 'b'] }), memory('b', other)]],
  ['2: type expected memory or item, got "dataset" after the first record', [item('q'), header()]],
  ['1: userKinds expected users of this file, got "u9"', [header({ userKinds: { u9: 'large' } }), item('q')]],
  ['1: userLanguages expected users of this file, got "u1": did you mean u01?', [header(stranger), item('q')]],
  [' has no items', [memory('m')]],
  [' is empty', ['', ' ']],
];

test.each(bad)('bad data: %s', async (expected, lines) => {
  const { code, message } = await failure(file(lines));
  expect(code).toBe('bad-data');
  expect(message.replace(/^f\.jsonl:/, '').slice(0, expected.length)).toBe(expected);
});

test('bytes that are not UTF-8, a folder and a missing file', async () => {
  const latin = Buffer.from(`${JSON.stringify(memory('m'))}\n{"caf\xe9"}`, 'latin1');
  expect(await failure(file(latin))).toEqual({ code: 'bad-data', message: 'f.jsonl:2: is not UTF-8' });
  expect((await failure(folder.path)).message).toMatch(/is a folder, expected a file$/);
  expect(await failure(folder.file('none.jsonl'))).toEqual({ code: 'not-found', message: 'none.jsonl: no such file' });
});

test('a value that is nested a hundred thousand times is refused by line', async () => {
  const depth = 100_000;
  const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  for (const field of ['query', 'history', 'type']) {
    const line = JSON.stringify(item('q', { [field]: 'here' })).replace(`"${field}":"here"`, `"${field}":${nested}`);
    expect(await failure(file([line]))).toEqual({
      code: 'bad-data',
      message: expect.stringContaining(`f.jsonl:1: ${field}`) as string,
    });
  }
});

test('users and categories named like members of every object are names like others; evidence counts once', async () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const of = (userId: string, index: number) => [
    memory(`m${index}`, { userId }),
    item(`q${index}`, { userId, category: userId, evidence: [`m${index}`, `m${index}`] }),
  ];
  const kinds = '{"__proto__":"large"}';
  const first = JSON.stringify(header({ userKinds: {} })).replace('"userKinds":{}', `"userKinds":${kinds}`);
  const { users } = await readDataset(file([first, ...names.flatMap(of)]));
  expect(users.map(({ userId, kind }) => [userId, kind])).toEqual([
    ['__proto__', 'large'],
    ['constructor', undefined],
    ['toString', undefined],
  ]);
  expect(users.flatMap(({ items }) => items.map(({ evidence }) => evidence))).toEqual([['m0'], ['m1'], ['m2']]);
});

test('ids are unique for their user; a run names those of several users by user', async () => {
  const of = (userId: string) => [
    memory('m', { userId, content: `I am ${userId}.` }),
    memory('n', { userId, supersedes: 'm', links: ['m'], createdAt: '2026-03-02T09:00:00Z' }),
    item('q', { userId, evidence: ['m'], passages: ['n'], conversation: 'c' }),
  ];
  const own = [memory('o', { userId: 'ann' }), item('r', { userId: 'ann', evidence: ['o'] })];
  const { users } = await readDataset(file([...of('ann'), ...of('bob'), ...own]));
  const [ann, bob] = users;
  expect(ann!.memories.map(({ memoryId }) => memoryId)).toEqual(['ann:m', 'o', 'ann:n']);
  expect(bob!.memories.at(-1)).toMatchObject({ memoryId: 'bob:n', supersedes: 'bob:m', links: ['bob:m'] });
  const named = { itemId: 'bob:q', evidence: ['bob:m'], passages: ['bob:n'], conversation: 'bob:c' };
  expect(bob!.items).toMatchObject([named]);
  expect(ann!.items.map(({ itemId }) => itemId)).toEqual(['ann:q', 'r']);
});

test('a name in two spellings of Unicode is one user', async () => {
  const { users } = await readDataset(
    file([memory('m', { userId: 'Zoé' }), item('q', { userId: 'Zoe\u0301', evidence: ['m'] })]),
  );
  expect(users).toMatchObject([{ userId: 'Zoé', items: [{ itemId: 'q' }] }]);
});

test('names the element of a list, not a line', async () => {
  const path = folder.file('list.json');
  writeFileSync(path, JSON.stringify([memory('m'), item('q', { evidence: ['n'] })], null, 1));
  expect((await benchFailure(readDataset(path))).message).toMatch(/list\.json: \[1\]: evidence expected a memory/);
});

test.each(['lines', 'list', 'packed lines', 'packed list'])('reads %s, and a list of golds', async (form) => {
  const records = [memory('m'), item('q', { answer: ['Brenko', 'my dog'], evidence: ['m'] })];
  const text = form.endsWith('list')
    ? JSON.stringify(records, null, 1)
    : records.map((one) => JSON.stringify(one)).join('\n');
  const bytes = form.startsWith('packed') ? gzipSync(text) : Buffer.from(text);
  const path = folder.file(`${form}.json${form.startsWith('packed') ? '.gz' : ''}`);
  writeFileSync(path, bytes);
  const { name, sha256, users } = await readDataset(path);
  expect([name, sha256]).toEqual([form, createHash('sha256').update(bytes).digest('hex')]);
  expect(users[0]!.items).toMatchObject([{ answer: 'Brenko', acceptedAnswers: ['my dog'] }]);
});
