import { appendFileSync, cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ModelRow } from '../../src/cli/models.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { tinyGguf, tinyHeader } from '../fixtures/tiny-gguf.ts';
import { zipArchive } from '../fixtures/zip-archive.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
beforeAll(() => {
  const content = tinyGguf(tinyHeader('llama'));
  writeFileSync(folder.file('mine.gguf'), content);
  writeFileSync(folder.file('traversal.zip'), zipArchive([{ name: '../../escaped.gguf', content }]));
  cpSync(presetModels.embedder, folder.file('files'), { recursive: true });
  // Other files than those that ship, and the same weights.
  for (const name of readdirSync(folder.file('files'))) {
    if (name.endsWith('.json')) appendFileSync(folder.file(`files/${name}`), '\n');
  }
});

const cache = folder.file('cache');
// No hub is reached.
const nowhere = { HF_ENDPOINT: 'http://127.0.0.1:9' };
const host = programIn(folder.path, { DKI_BENCH_CACHE: cache, HF_HOME: folder.file('hf'), ...nowhere });
const models = (...words: readonly string[]) => host.run('models', ...words);
const rows = async (): Promise<readonly ModelRow[]> =>
  JSON.parse((await models('list', '--json')).stdout) as ModelRow[];

describe('models list', () => {
  it('names every model with its size, its licence, whether it is there, and how it is asked', async () => {
    const { code, stdout, stderr } = await models('list');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^recall-base +language model +3\.6 MB +MIT +ships$/m);
    expect(stdout).toMatch(/^recall-base +1\.8 M +2,048 +F16 100 %$/m);
    expect(stdout).toMatch(/^recall-base +reports\/reference, reports\/ten-base/m);
    expect(stdout).toMatch(/^smollm2-135m +language model +98\.4 MB +Apache-2\.0 +no$/m);
    expect(stdout).toMatch(/^smollm2-135m +chat template, answer begins with the item's own words$/m);
    const minilm = (await rows()).find(({ name }) => name === 'minilm')!;
    expect(minilm).toMatchObject({ kind: 'embedder', kept: 'absent', path: null, licence: 'Apache-2.0' });
    expect(minilm.missing).toHaveLength(8);
  });
});

describe('models import', () => {
  it('recognises the files of the registry in a folder', async () => {
    const { code, stdout } = await models('import', 'files');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^embed-en-zh: complete, .*ships with the bench\n$/);
  });

  it.each([
    ['traversal.zip', /^error: traversal\.zip: cannot be unpacked: invalid relative path: \.\.\/\.\.\/escaped\.gguf\n/],
    [
      'mine.gguf',
      /^error: mine\.gguf: holds no model of the registry\n {2}hint: other models are used where they are: --model/,
    ],
  ])('refuses %s in one line, and keeps nothing of it', async (path, message) => {
    expectMistake(await models('import', path), message);
    const left = existsSync(cache) ? readdirSync(cache, { recursive: true, withFileTypes: true }) : [];
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
  });
});

describe('models remove', () => {
  it('deletes nothing where one of the names is wrong', async () => {
    const wrong = await models('remove', 'minilm', 'smollm-135m');
    expect(wrong.stderr).toMatch(/^error: unknown model "smollm-135m": did you mean smollm2-135m\?\n/);
    expect((await models('remove', 'minilm', 'recall-base')).stderr).toMatch(/recall-base ships with the bench/);
    expect((await models('remove', 'minilm')).stdout).toBe('minilm: was not in the cache\n');
  });
});

it('a name that nobody knows gets the nearest; a hub that is not reached is named', async () => {
  const bench = (model: string) => host.run('bench', '--model', model, '--quiet');
  expectMistake(await bench('smolm2-135m'), /unknown name "smolm2-135m": did you mean smollm2-135m\?/);
  const unreached = /^error: smollm2-135m could not be fetched .*127\.0\.0\.1:9 cannot be reached/;
  expectMistake(await bench('smollm2-135m'), unreached);
});
