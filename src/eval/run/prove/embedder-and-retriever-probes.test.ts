import { describe, expect, test, it } from 'vitest';
import { checkInput, line, runProbes } from '../../../../test/fixtures/check-input.ts';
import { presetModels } from '../../../models/default-models.ts';
import type { Embedder } from '../../../models/embedding/embedder.ts';
import { EmbeddingService } from '../../../models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../../models/embedding/transformers-embedder.ts';
import type { CheckInput } from '../../analysis/checks/check.ts';
import { decideChecks } from '../../analysis/checks/decide-checks.ts';
import { probeEmbedder, probeRetriever } from './embedder-and-retriever-probes.ts';
import { type RetrieverName, retrieverNames } from '../../../config/bench-config.ts';
import { readPreRetrievalConfig } from '../../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from '../../../retrieval/open-retriever.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';
import { exactBackend } from '../../../retrieval/vectors/vector-backends.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { replacing } from '../../../../test/fixtures/replacing.ts';

const honest = TransformersEmbedder.open(presetModels.embedder);

const verdict = (input: CheckInput) => decideChecks(input).find(({ check }) => check === 'embedder')!;

/** The check of a run whose shipped embedder embeds another text than it is asked for. */
async function checked(embed: (embedder: Embedder, texts: readonly string[]) => Promise<Float32Array[]>) {
  const embedder = await honest;
  const lying: Embedder = { info: embedder.info, embed: (texts) => embed(embedder, texts) };
  const found = await probeEmbedder(new EmbeddingService(() => Promise.resolve(lying)), ['en', 'zh']);
  return verdict(checkInput({ probes: { embedder: found } }));
}

test('the shipped embedder passes, in both languages; a run without the probe is undecided', async () => {
  expect(line(await checked((embedder, texts) => embedder.embed(texts)))).toBe(
    'passed: 16 sentences: each has its own vector and is found by it',
  );
  const { embedder: _, ...probes } = runProbes;
  expect(verdict({ ...checkInput(), probes }).status).toBe('undecided');
});

test.each<[string, Parameters<typeof checked>[0], RegExp]>([
  [
    'vectors without signs',
    async (embedder, texts) => (await embedder.embed(texts)).map((vector) => vector.map(Math.abs)),
    /^failed: no vector has a negative number/,
  ],
  [
    'one vector for all texts',
    (embedder, texts) => embedder.embed(texts.map(() => 'I drink tea.')),
    /^failed: 16 of 16 sentences have the same vector as another: "My dog .*; 16 of 16 .* are not found by their own vector/,
  ],
  [
    "a batch in which each text has its neighbour's vector",
    async (embedder, texts) => {
      const [first, ...rest] = await embedder.embed(texts);
      return [...rest, first!];
    },
    /^failed: 16 of 16 sentences are not found by their own vector: "My dog is called Brenko\."$/,
  ],
  [
    "a text that always has another's vector, and only that pair,",
    (embedder, texts) =>
      embedder.embed(texts.map((text) => (text.includes('violin') ? 'My passport expires next year.' : text))),
    /^failed: 2 of 16 sentences have the same vector as another: "We play the violin/,
  ],
  [
    'a text without a vector',
    async (embedder, texts) =>
      (await embedder.embed(texts)).map((vector, place) => (texts[place]!.includes('Leeds') ? vector.fill(0) : vector)),
    /^failed: 1 of 16 sentences are not found by their own vector: "I moved to Leeds/,
  ],
])('%s is found', async (_, embed, message) => {
  expect(line(await checked(embed))).toMatch(message);
});

const embeddings = new EmbeddingService(() => TransformersEmbedder.open(presetModels.embedder));

const temporary = temporaryFolder();

/** The probe of a retriever that changes what it found. */
function probed(
  strategy: RetrieverName,
  change: (memories: readonly MemorySearchResult[]) => readonly MemorySearchResult[],
  service = embeddings,
) {
  const open = async () => {
    const retriever = await openRetriever(strategy, {
      ...{ embeddings: service, backend: exactBackend, topK: 5, threshold: -1 },
      ...{ namespace: 'run/probe', folder: temporary.file('probe'), tiers: { coldIndex: 'ivfflat' } },
      countTokens: (texts) => Promise.resolve(texts.map((text) => text.split(' ').length)),
      preRetrieval: readPreRetrievalConfig({}, 'defaults'),
    });
    return replacing(retriever, {
      retrieve: async (query, options) => {
        const found = await retriever.retrieve(query, options);
        return { ...found, memories: change(found.memories) };
      },
    });
  };
  return probeRetriever(open, service, ['en', 'zh']);
}

it('queries only sentences that the embedder tells apart, as one for English does not in Chinese', async () => {
  const embedder = await honest;
  const forEnglish = replacing(embedder, {
    embed: (texts, ...others) =>
      embedder.embed(
        texts.map((text) => (text.includes('说过') ? 'Tea.' : text)),
        ...others,
      ),
  });
  const service = new EmbeddingService(() => Promise.resolve(forEnglish));
  expect(await probed('router', (memories) => memories, service)).toEqual({ questions: 8, wrong: [] });
});

describe.each(retrieverNames)('the probe of strategy %s', (strategy) => {
  it('finds nothing wrong with its order', async () => {
    expect(await probed(strategy, (memories) => memories)).toEqual({ questions: 16, wrong: [] });
  });

  // `tiered` has the newest memories first, then the nearest.
  const first = strategy === 'tiered' ? 10 : 0;

  it.each<[string, Parameters<typeof probed>[1]]>([
    ['the least similar ones first', (memories) => memories.toReversed()],
    ['the second neighbour before the first', (memories) => exchanged(memories, first, first + 1)],
    ['the third neighbour before the second', (memories) => exchanged(memories, first + 1, first + 2)],
    ['no nearest neighbour', (memories) => memories.toSpliced(first, 1)],
    ['a memory of another user', (memories) => [...memories, { ...memories[0]!, memoryId: 'other-3' }]],
  ])('detects %s', async (_, change) => {
    expect((await probed(strategy, change)).wrong.length).toBeGreaterThan(8);
  });
});

function exchanged(memories: readonly MemorySearchResult[], one: number, other: number): MemorySearchResult[] {
  return memories.with(one, memories[other]!).with(other, memories[one]!);
}
