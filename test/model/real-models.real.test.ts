import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { selectEngine } from '../../src/bench/select-engine.ts';
import type { BenchConfig } from '../../src/config/bench-config.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { modelFiles } from '../../src/models/model-file-cache.ts';
import { resolveModelOptions } from '../../src/eval/run/plan/resolve-model-options.ts';
import { openSystem } from '../../src/index.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { describeReal, entry } from '../fixtures/real-models.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const memories = [
  'My sister Clara lives in Lisbon.',
  'I work as a carpenter.',
  'My dog is called Biscuit.',
  'I am allergic to peanuts.',
  'My car is a green Volvo.',
];
/** Questions on some of them, and a word of the answer. */
const asked = [
  ['Where does my sister Clara live?', 'lisbon'],
  ['What is my job?', 'carpenter'],
  ['What am I allergic to?', 'peanuts'],
] as const;

const MODEL = 'smollm2-135m';
const EMBEDDER = 'minilm';

const folder = temporaryFolder();
afterEach(() => vi.unstubAllEnvs());

/** The configuration of a run on a model, as the registry fills it in. */
function filledIn(model: string): Promise<BenchConfig> {
  const config = loadBenchConfig({ flags: { model }, environment: {}, workingFolder: folder.path });
  return resolveModelOptions(config, selectEngine());
}

/** Answers from all memories, by question. */
async function answers(arm: string, model: string): Promise<string[]> {
  await using system = await openSystem({ arm, model, threads: 1 });
  // Memories of one moment would stand in the order of their random ids.
  for (const [index, memory] of memories.entries()) {
    await system.addMemory('notes', memory, { userId: 'ann', memoryId: `note-${index}` });
  }
  const texts: string[] = [];
  for (const [index, [query]] of asked.entries()) {
    texts.push((await system.chat({ query, sessionId: `chat-${index}`, userId: 'ann' })).text);
  }
  return texts;
}

describeReal('a model that people have', [MODEL, EMBEDDER], () => {
  const file = modelFiles(entry(MODEL))[0]!.path;

  it('answers natural questions by name; injected as one prefix its memories give the same answers', async () => {
    const texts = await answers('rag', MODEL);
    // Without its memories it could name none; how many it names depends on the processor's rounding.
    const right = texts.filter((text, index) => text.toLowerCase().includes(asked[index]![1]));
    expect(right.length, texts.join(' | ')).toBeGreaterThanOrEqual(2);
    expect(await answers('dki', MODEL)).toEqual(texts);
  });

  it('is asked in the same way by its file, whatever the file is called', async () => {
    copyFileSync(file, folder.file('renamed.gguf'));
    const [byName, byFile] = [await filledIn(MODEL), await filledIn('renamed.gguf')];
    expect(byName).toMatchObject({ template: 'chat', labels: 'index' });
    expect(byName.embedder).toMatch(/embedders.minilm$/);
    expect({ ...byFile, model: '', given: [] }).toEqual({ ...byName, model: '', given: [] });
  });

  it('is asked as the user says, where the user says something', async () => {
    const flags = { model: MODEL, template: 'plain', labels: 'bullet', embedder: 'embed-en-zh' };
    const config = loadBenchConfig({ flags, environment: {}, workingFolder: folder.path });
    const { template, labels, embedder } = await resolveModelOptions(config, selectEngine());
    expect([template, labels, embedder]).toEqual(['plain', 'bullet', expect.stringMatching(/embed-en-zh$/)]);
  });

  it('with other bytes than the registry states is refused', async () => {
    const bytes = readFileSync(file);
    vi.stubEnv('HF_HUB_CACHE', folder.file('hub'));
    vi.stubEnv('DKI_BENCH_CACHE', folder.file('cache'));
    const damaged = modelFiles(entry(MODEL))[0]!.path;
    mkdirSync(dirname(damaged), { recursive: true });
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(damaged, bytes);
    const why = /^smollm2-135m: SmolLM2-135M-Instruct\.Q4_1\.gguf in the cache has other bytes/;
    await expect(filledIn(MODEL)).rejects.toMatchObject(errorLike('bad-model', why));
  });
});
