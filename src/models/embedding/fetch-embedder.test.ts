import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { presetModels } from '../default-models.ts';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { folderOfEachTest } from '../../../test/fixtures/folder-of-each-test.ts';
import { fetchEmbedder } from './fetch-embedder.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const shipped = presetModels.embedder;
const paths = readdirSync(shipped, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(shipped.length));
const files: Readonly<Record<string, Buffer>> = Object.fromEntries(
  paths.map((path) => [`org/embed-en-zh/main${path}`, readFileSync(shipped + path)]),
);

const folder = folderOfEachTest();
beforeEach(() => {
  vi.stubEnv('XDG_CACHE_HOME', folder.path);
  vi.stubEnv('HF_TOKEN', '');
  return () => void vi.unstubAllEnvs();
});

async function started(given: Readonly<Record<string, Buffer>> = files): Promise<HubServer> {
  const server = await HubServer.start(given);
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  return server;
}

describe('an embedder of the hub', () => {
  it('is fetched with all that it needs, embeds as the folder does, and is found without a request afterwards', async () => {
    await using server = await started();
    const fetched = await fetchEmbedder('hf:org/embed-en-zh');
    expect(fetched).toBe(join(folder.path, 'huggingface/hub/models--org--embed-en-zh/snapshots/main'));
    const [own, reference] = await Promise.all([fetched, shipped].map((each) => TransformersEmbedder.open(each)));
    expect(own!.info).toEqual({ ...reference!.info, path: own!.info.path });
    expect(await own!.embed(['I like tea.'])).toEqual(await reference!.embed(['I like tea.']));
    const { length } = server.requests;
    await server[Symbol.asyncDispose]();
    expect(await fetchEmbedder('hf:org/embed-en-zh')).toBe(fetched);
    expect(server.requests).toHaveLength(length);
  });

  it('is not taken for complete after an interruption, and not fetched twice', async () => {
    await using server = await started();
    server.faults = { hidesChecksums: true };
    await expect(fetchEmbedder('hf:org/embed-en-zh')).rejects.toMatchObject({ code: 'network' });
    server.faults = {};
    await fetchEmbedder('hf:org/embed-en-zh');
    const gets = server.requests.filter(({ server: name, method }) => name === 'hub' && method === 'GET');
    expect(new Set(gets.map(({ path }) => path)).size).toBe(gets.length);
  });

  it('is refused if a file is missing, or if the name is that of one file', async () => {
    const { 'org/embed-en-zh/main/onnx/model.onnx': _, ...others } = files;
    await using _server = await started(others);
    const message = '--embedder hf:org/embed-en-zh: the repository has no onnx/model.onnx or onnx/model_quantized.onnx';
    await expectFailure(fetchEmbedder('hf:org/embed-en-zh'), 'bad-model', message);
    await expectFailure(fetchEmbedder('hf:org/embed-en-zh/config.json'), 'bad-option', /./, 'write hf:org/embed-en-zh');
    expect(await fetchEmbedder('models/mine')).toBe('models/mine');
  });
});
