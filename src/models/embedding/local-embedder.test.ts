import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { presetModels } from '../preset-models.ts';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { localEmbedder } from './local-embedder.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const shipped = presetModels.embedder;
afterEach(() => vi.unstubAllEnvs());

function filesAt(place: string): Record<string, Buffer> {
  const entries = readdirSync(shipped, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [place + path.slice(shipped.length), readFileSync(path)];
    }),
  );
}

function use(server: HubServer, folder: TestFolder): void {
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  vi.stubEnv('XDG_CACHE_HOME', folder.path);
  vi.stubEnv('HF_TOKEN', '');
}

describe('an embedder of the hub', () => {
  it('is fetched with all that it needs, embeds as the folder does, and is found without a request afterwards', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(filesAt('org/embed-en-zh/main'));
    use(server, folder);
    const fetched = await localEmbedder('hf:org/embed-en-zh');
    expect(fetched).toBe(join(folder.path, 'huggingface/hub/models--org--embed-en-zh/snapshots/main'));
    const [own, reference] = await Promise.all([
      TransformersEmbedder.open(fetched),
      TransformersEmbedder.open(shipped),
    ]);
    expect(own.info).toEqual({ ...reference.info, path: own.info.path });
    expect(await own.embed(['I like tea.'])).toEqual(await reference.embed(['I like tea.']));
    const { length } = server.requests;
    await server[Symbol.asyncDispose]();
    expect(await localEmbedder('hf:org/embed-en-zh')).toBe(fetched);
    expect(server.requests).toHaveLength(length);
  });

  it('whose fetching was broken off is not taken for complete, and not fetched twice', async () => {
    using folder = new TestFolder();
    const files = filesAt('org/embed-en-zh/v1');
    await using server = await HubServer.start(files);
    use(server, folder);
    server.faults = { hidesChecksums: true };
    await expect(localEmbedder('hf:org/embed-en-zh@v1')).rejects.toMatchObject({ code: 'network' });
    server.faults = {};
    await localEmbedder('hf:org/embed-en-zh@v1');
    const gets = server.requests.filter(({ server: name, method }) => name === 'hub' && method === 'GET');
    expect(new Set(gets.map(({ path }) => path)).size).toBe(gets.length);
  });

  it('that lacks a file is refused by name, and so is one file', async () => {
    using folder = new TestFolder();
    const { 'org/embed-en-zh/main/onnx/model.onnx': _, ...files } = filesAt('org/embed-en-zh/main');
    await using server = await HubServer.start(files);
    use(server, folder);
    await expect(localEmbedder('hf:org/embed-en-zh')).rejects.toMatchObject({
      code: 'bad-model',
      message: '--embedder hf:org/embed-en-zh: the hub has no onnx/model.onnx or onnx/model_quantized.onnx there',
    });
    await expect(localEmbedder('hf:org/embed-en-zh/config.json')).rejects.toMatchObject({
      code: 'bad-option',
      hint: 'write hf:org/embed-en-zh',
    });
    expect(await localEmbedder('models/mine')).toBe('models/mine');
  });
});
