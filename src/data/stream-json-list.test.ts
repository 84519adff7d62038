import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { type JsonElement, jsonElements } from './stream-json-list.ts';

const path = temporaryFolder().file('a.json');

async function placed(elements: AsyncIterable<JsonElement>): Promise<JsonElement[]> {
  const found: JsonElement[] = [];
  for await (const element of elements) found.push(element);
  return found;
}

async function all(elements: AsyncIterable<JsonElement>): Promise<unknown[]> {
  return (await placed(elements)).map(({ value }) => value);
}

async function elementsOf(content: string | Buffer): Promise<unknown[]> {
  writeFileSync(path, content);
  return all(jsonElements(path, 'a list'));
}

const list = [
  { text: 'a "quoted], [one", \\', deep: [[1, { b: '}' }]] },
  { 好: '\\"', emoji: '🥥' },
  'a, text',
  -1.5e3,
  null,
  [],
];

test.each([
  ['compact', JSON.stringify(list)],
  ['indented', `\uFEFF\n ${JSON.stringify(list, null, 2)}\n\n`],
])('%s: elements come one by one, whatever stands in their texts', async (_, text) => {
  expect(await elementsOf(text)).toEqual(list);
});

test('elements that span many chunks of the stream are whole; the hash is of the bytes', async () => {
  const long = Array.from({ length: 40 }, (_, index) => ({ index, text: `é"\\${'é'.repeat(20_000)}]` }));
  const text = JSON.stringify(long, null, 1);
  writeFileSync(path, text);
  const elements = jsonElements(path, 'a list');
  expect(await all(elements)).toEqual(long);
  expect(elements.sha256()).toBe(createHash('sha256').update(text).digest('hex'));
});

test('JSON Lines: each object is an element, placed by the line where it begins', async () => {
  const text = '\n{"a": "}\\n{"}\n\n{"b":\n  [{"c": 1}, 2]\n}{"d": {}}\n';
  writeFileSync(path, text);
  const elements = await placed(jsonElements(path, 'a list'));
  expect(elements).toEqual([
    { place: `${path}:2`, value: { a: '}\n{' } },
    { place: `${path}:4`, value: { b: [{ c: 1 }, 2] } },
    { place: `${path}:6`, value: { d: {} } },
  ]);
  writeFileSync(path, '[{"a": 1},\n 2]');
  const places = (await placed(jsonElements(path, 'a list'))).map(({ place }) => place);
  expect(places).toEqual([`${path}: [0]`, `${path}: [1]`]);
});

test('a value that is no list is its only element', async () => {
  expect(await elementsOf('{"a": [1, 2]}')).toEqual([{ a: [1, 2] }]);
  expect([await elementsOf('[]'), await elementsOf('7')]).toEqual([[], [7]]);
});

test.each([
  ['nothing', '', 'is not JSON: it ends in the middle'],
  ['an open list', '[{"a":1}', 'is not JSON: it ends in the middle'],
  ['an open text', '["a', 'is not JSON: it ends in the middle'],
  ['an element that is none', '[{"a":1},{"b"}]', /is not JSON: .* in \[1\]$/],
  ['a line that is no object', '{"a":1}\n{"b"}', /is not JSON: .* in line 2$/],
  ['a list behind the list', '[1][2]', 'is not JSON: text follows the list'],
  ['text behind the list', '[1] x', 'is not JSON: text follows the list'],
  ['Latin-1', Buffer.from('["caf\xe9"]', 'latin1'), 'is not UTF-8'],
])('bad data: %s', async (_, content, message) => {
  await expect(elementsOf(content)).rejects.toThrow(message);
});
