import { appendFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ModelRow } from '../../src/cli/models.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { tinyGguf, tinyHeader } from '../fixtures/tiny-gguf.ts';
import { zipArchive } from '../fixtures/zip-archive.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
beforeAll(() => {
  const chat = tinyGguf({ ...tinyHeader('llama'), 'tokenizer.chat_template': '{{ messages[0].content }}' });
  writeFileSync(folder.file('Mine (v2).gguf'), chat);
  const inner = { name: 'pack/inner.gguf', content: tinyGguf(tinyHeader('qwen2')) };
  writeFileSync(folder.file('pack.whl'), zipArchive([inner]));
  writeFileSync(folder.file('traversal.zip'), zipArchive([{ name: '../../escaped.gguf', content: chat }]));
  writeFileSync(folder.file('cut.gguf'), chat.subarray(0, 200));
  cpSync(presetModels.embedder, folder.file('files'), { recursive: true });
  // Other files than those that ship, and the same weights.
  for (const name of readdirSync(folder.file('files'))) {
    if (name.endsWith('.json')) appendFileSync(folder.file(`files/${name}`), '\n');
  }
});

const cache = folder.file('cache');
// Neither a hub nor an index is reached.
const nowhere = { HF_ENDPOINT: 'http://127.0.0.1:9', PIP_INDEX_URL: 'http://127.0.0.1:9' };
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
  it('keeps a model that the registry does not know under the name of its file, finds it by that, and says how it is asked', async () => {
    const { code, stdout } = await models('import', 'Mine (v2).gguf', 'pack.whl');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Mine-v2-: complete, .*not in the registry; chat template, answer begins "According to/);
    expect(stdout).toMatch(/\ninner: complete, .*not in the registry; plain form, answer begins/);
    const added = (await rows()).slice(-2);
    expect(added.map(({ name, asked }) => `${name} ${asked!.template}`)).toEqual(['Mine-v2- chat', 'inner plain']);
    const doctor = await host.run('doctor', '--model', 'inner', '--json');
    expect(JSON.parse(doctor.stdout)).toMatchObject({ model: { name: 'tiny', architecture: 'qwen2' } });
  });

  it('keeps a folder of ONNX files, which then is an embedder by name', async () => {
    expect((await models('import', 'files')).stdout).toMatch(
      /^embed-en-zh: complete, .*ships with the bench\nfiles: complete, .*not in the registry\n$/,
    );
    const row = (await rows()).find(({ name }) => name === 'files');
    expect(row).toMatchObject({ kind: 'embedder', kept: 'whole' });
    const files = ['1_Pooling', 'config.json', 'onnx', 'tokenizer.json', 'tokenizer_config.json'];
    expect(readdirSync(row!.path!).sort()).toEqual(files);
  });

  it.each([
    ['traversal.zip', /^error: traversal\.zip: cannot be unpacked: invalid relative path: \.\.\/\.\.\/escaped\.gguf\n/],
    ['cut.gguf', /^error: cut\.gguf of cut\.gguf: /],
    [
      'Mine (v2).gguf',
      /the cache has a model of that name\n {2}hint: remove that one first: .* models remove Mine-v2-\n/,
    ],
  ])('refuses %s in one line, and keeps what there was', async (path, message) => {
    const before = readdirSync(cache, { recursive: true });
    expectMistake(await models('import', path), message);
    expect(readdirSync(cache, { recursive: true })).toEqual(before);
  });
});

describe('models remove', () => {
  it('deletes what was imported, and nothing where one of the names is wrong', async () => {
    const wrong = await models('remove', 'inner', 'smollm-135m');
    expect(wrong.stderr).toMatch(/^error: unknown model "smollm-135m": did you mean smollm2-135m\?\n/);
    expect((await models('remove', 'inner', 'recall-base')).stderr).toMatch(/recall-base ships with the bench/);
    expect((await rows()).map(({ name }) => name)).toContain('inner');
    expect((await models('remove', 'inner', 'files', 'minilm')).stdout).toBe(
      'inner: removed\nfiles: removed\nminilm: was not in the cache\n',
    );
    expect((await rows()).map(({ name }) => name)).not.toContain('inner');
  });
});

it('a name that nobody knows gets the nearest; a hub that is not reached is named', async () => {
  const bench = (model: string) => host.run('bench', '--model', model, '--quiet');
  expectMistake(await bench('smolm2-135m'), /unknown name "smolm2-135m": did you mean smollm2-135m\?/);
  const unreached = /^error: smollm2-135m could not be fetched .*127\.0\.0\.1:9 cannot be reached/;
  expectMistake(await bench('smollm2-135m'), unreached);
});
