import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { benchFailure } from '../../../test/fixtures/bench-failure.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { item, memory, writeLines } from '../../../test/fixtures/dataset-lines.ts';
import type { Dataset, DatasetUser } from '../dataset.ts';
import { readDataset } from '../read-dataset.ts';
import { rulerData, rulerTasks } from './ruler.ts';
import type { RulerChoice } from './dataset-generator.ts';

const folder = temporaryFolder();
/** A token for every four characters. */
const countTokens = async (texts: readonly string[]) => texts.map((text) => Math.ceil(text.length / 4));
const window = { contextTokens: 2048, countTokens };

const makeText = (choice: RulerChoice, users = 2, seed = 7) => rulerData.make(seed, users, window, choice);

async function make(choice: RulerChoice, users = 2): Promise<Dataset> {
  const path = folder.file('ruler.jsonl');
  writeFileSync(path, await makeText(choice, users));
  return readDataset(path);
}

const tokensOf = async ({ memories }: DatasetUser): Promise<number> =>
  (await countTokens(memories.map(({ content }, at) => `[${at + 1}] ${content}\n`))).reduce((a, b) => a + b, 0);

/** The contents of the evidence of a user's one question, in their order. */
const evidence = ({ memories, items }: DatasetUser): string[] =>
  memories.filter(({ memoryId }) => items[0]!.evidence.includes(memoryId)).map(({ content }) => content);

test('each task fills each length, as far as its lines fit, with the same bytes for one seed', async () => {
  const choice = { lengths: [300, 900] };
  const { users, declared } = await make(choice);
  expect(declared.primaryMetric).toBe('memoryRecall');
  const withoutQa = rulerTasks.filter((task) => task !== 'qa');
  expect(users.map(({ items }) => `${items[0]!.category} ${items[0]!.condition}`)).toEqual(
    [300, 900].flatMap((length) => withoutQa.flatMap((task) => [`${task} ${length}`, `${task} ${length}`])),
  );
  for (const user of users) {
    const { category, condition = 0 } = user.items[0]!;
    const tokens = await tokensOf(user);
    expect(tokens, category).toBeLessThanOrEqual(condition);
    expect(tokens, category).toBeGreaterThan(condition - (category.endsWith('words') ? 130 : 30));
  }
  expect(await makeText(choice)).toBe(await makeText(choice));
  expect(await makeText(choice)).not.toBe(await makeText(choice, 2, 8));
});

test('needles: the asked ones are the evidence, and no other memory holds their keys', async () => {
  const { users } = await make(
    { lengths: [600], tasks: ['single', 'multi-key', 'multi-key-dense', 'multi-value', 'multi-query'] },
    1,
  );
  const needles = users.map(({ memories }) => memories.filter(({ value }) => value !== undefined).length);
  const [single, keys, dense, values, queries] = users as [
    DatasetUser,
    DatasetUser,
    DatasetUser,
    DatasetUser,
    DatasetUser,
  ];
  expect(needles.filter((_, at) => at !== 2)).toEqual([1, 4, 4, 4]);
  expect(needles[2]).toBe(dense.memories.length);
  for (const user of [single, keys, dense]) {
    const { query, answer, nuggets, answerPrefix } = user.items[0]!;
    const key = /of (\S+)\?$/.exec(query)![1]!;
    expect(evidence(user)).toEqual([`The magic number of ${key} is ${answer}.`]);
    expect(user.memories.filter(({ content }) => content.includes(key))).toHaveLength(1);
    expect([nuggets, answerPrefix]).toEqual([undefined, `The magic number of ${key} is`]);
  }
  for (const user of [values, queries]) {
    const { answer, nuggets } = user.items[0]!;
    expect(answer).toBe(nuggets!.join(', '));
    expect(
      evidence(user)
        .map((content) => /is (\d{7})\.$/.exec(content)![1])
        .sort(),
    ).toEqual([...nuggets!].sort());
  }
  expect(new Set(evidence(values).map((content) => content.split(' is ')[0])).size).toBe(1);
  expect(evidence(queries).every((content) => queries.items[0]!.query.includes(content.split(' ')[4]!))).toBe(true);
});

test('variables: a chain of five in the order of its memories', async () => {
  const { users } = await make({ lengths: [400], tasks: ['variable-tracking'] }, 1);
  const { nuggets, query } = users[0]!.items[0]!;
  const [first, ...others] = evidence(users[0]!);
  expect(first).toBe(`Variable ${nuggets![0]} is ${/\d+/.exec(query)![0]}.`);
  expect(others).toEqual(nuggets!.slice(1).map((name, at) => `Variable ${name} is variable ${nuggets![at]}.`));
});

test('common and frequent words are those that the lists repeat most', async () => {
  const { users } = await make({ lengths: [900], tasks: ['common-words', 'frequent-words'] });
  for (const user of users) {
    const { nuggets } = user.items[0]!;
    const all = user.memories.flatMap(({ content }) => content.split(' '));
    const counts = [...Map.groupBy(all, (word) => word)].map(([word, { length }]) => [word, length] as const);
    const sorted = counts.sort(([, a], [, b]) => b - a);
    const most = nuggets!.length;
    expect(new Set(sorted.slice(0, most).map(([word]) => word))).toEqual(new Set(nuggets));
    expect(sorted[most - 1]![1]).toBeGreaterThan(sorted[most]![1]);
    expect(evidence(user)).toHaveLength(user.memories.length);
  }
});

test('qa: a question of a file among passages that do not hold its answer', async () => {
  const cities = ['Turin', 'Oslo', 'Lima', 'Quito', 'Rabat', 'Turin'];
  const lines = cities.flatMap((city, index) => [
    memory(`p${index}`, { userId: `u${index}`, content: `The smith of house ${index} lives in ${city}.` }),
    item(`q${index}`, {
      userId: `u${index}`,
      query: `Where does the smith of house ${index} live?`,
      answer: city,
      evidence: [`p${index}`],
    }),
  ]);
  const questions = [await readDataset(writeLines(folder, lines))];
  const { users } = await make({ lengths: [200], tasks: ['qa'], questions }, 8);
  for (const user of users) {
    const { query, answer } = user.items[0]!;
    const house = /house (\d)/.exec(query)![1]!;
    expect(evidence(user)).toEqual([`The smith of house ${house} lives in ${answer}.`]);
    expect(user.memories.filter(({ content }) => content.includes(answer!))).toHaveLength(1);
    expect(user.memories.length).toBeGreaterThanOrEqual(5);
  }
  const withheld = { ...questions[0]!, declared: { texts: 'withheld' as const } };
  expect((await make({ lengths: [200], tasks: ['qa'], questions: [withheld] }, 1)).declared.texts).toBe('withheld');
});

test('qa: questions whose evidence is longer than the memories may be are left out, and refused if there are no others', async () => {
  const asked = (name: string, content: string) => [
    memory(`p-${name}`, { userId: name, content }),
    item(`q-${name}`, { userId: name, query: `Who is ${name}?`, answer: 'the smith', evidence: [`p-${name}`] }),
  ];
  const long = asked('long', `The long one is the smith. ${'So it is. '.repeat(100)}`);
  const questions = [
    await readDataset(writeLines(folder, [...asked('short', 'The short one is the smith.'), ...long])),
  ];
  const { users } = await make({ lengths: [200], tasks: ['qa'], questions }, 8);
  expect(new Set(users.map(({ items }) => items[0]!.query))).toEqual(new Set(['Who is short?']));
  const { message } = await benchFailure(makeText({ lengths: [5], tasks: ['qa'], questions }));
  expect(message).toBe('--lengths 5: too few tokens for task qa');
});

test('qa: a file without a question that memories answer is refused', async () => {
  const questions = [await readDataset(writeLines(folder, [item('q', { answer: null })]))];
  const { message } = await benchFailure(makeText({ tasks: ['qa'], questions }));
  expect(message).toBe('--tasks qa: no question that memories alone answer');
});

test.each([
  [{ tasks: ['multi-keys'] }, '--tasks: unknown task "multi-keys": did you mean multi-key?'],
  [{ lengths: [4096] }, '--lengths 4096: the window of the model has 2048 tokens'],
  [{ tasks: ['qa'] }, '--tasks qa: no questions'],
  [{ lengths: [20], tasks: ['multi-query'] }, '--lengths 20: too few tokens for task multi-query'],
  [{ lengths: [100], tasks: ['common-words'] }, '--lengths 100: too few tokens for task common-words'],
])('refused: %j', async (choice, message) => {
  expect((await benchFailure(makeText(choice))).message).toBe(message);
});
