import { beforeAll, expect, test } from 'vitest';
import { recallAtK } from '../../src/eval/analysis/metrics/retrieval-metrics.ts';
import { drawRepeatedMentions } from '../../src/data/generators/repeated-mentions.ts';
import { type RetrievalKind, retrievalUsers } from '../../src/data/generators/retrieval-data.ts';
import { memoryEntry } from '../../src/eval/run/data-to-system-input.ts';
import { MemoryRouter, RouterRetriever } from '../../src/retrieval/similarity/memory-router.ts';
import type { Retriever } from '../../src/retrieval/retriever.ts';
import { HintedRetriever } from '../../src/retrieval/hinted/hinted-retriever.ts';
import { readPreRetrievalConfig } from '../../src/retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { SalienceRetriever } from '../../src/retrieval/salience/salience-retriever.ts';
import { backend, embeddings } from '../fixtures/shipped-embedder.ts';

const K = 5;
const users = retrievalUsers(23, 12, 160);

/** Mean recall@5 by kind of question. */
async function recallByKind(retriever: Retriever): Promise<Readonly<Record<RetrievalKind, number>>> {
  const scores = new Map<RetrievalKind, number[]>();
  for (const { userId, memories, questions } of users) {
    await retriever.addMemories(memories.map((memory) => ({ ...memoryEntry(memory), userId })));
    for (const { category: kind, query, evidence, askedAt } of questions) {
      const options = { userId, topK: 10, threshold: -1, now: new Date(askedAt) };
      const ranked = (await retriever.retrieve(query, options)).memories.map(({ memoryId }) => memoryId);
      scores.set(kind, [...(scores.get(kind) ?? []), recallAtK(ranked, evidence, K)]);
    }
  }
  await retriever.close();
  const means = [...scores].map(([kind, all]) => [kind, all.reduce((sum, score) => sum + score) / all.length]);
  return Object.fromEntries(means) as Record<RetrievalKind, number>;
}

let router: Awaited<ReturnType<typeof recallByKind>>;
let salience: typeof router;
let hinted: typeof router;
beforeAll(async () => {
  const { config, warnings } = readPreRetrievalConfig({}, 'defaults');
  const index = new MemoryRouter(embeddings, { backend, topK: 10, threshold: -1 });
  router = await recallByKind(new RouterRetriever(index, embeddings));
  salience = await recallByKind(
    new SalienceRetriever(embeddings, {
      backend,
      countTokens: async (texts) => texts.map((text) => Math.ceil(text.length / 4)),
    }),
  );
  hinted = await recallByKind(new HintedRetriever(embeddings, { backend, config, warnings }));
});

// Each strategy is meant for one kind of question; one that was not best there would have been built wrongly.
test('the router finds paraphrases: meaning, not words', () => {
  expect(router.paraphrase).toBeGreaterThan(0.9);
  expect(router.paraphrase).toBeGreaterThan(salience.paraphrase);
});

test.each(['preference', 'recent', 'named-entity'] as const)(
  'salience is best on %s: a file, the journal, words',
  (kind) => {
    expect(salience[kind]).toBeGreaterThan(router[kind] + 0.1);
    expect(salience[kind]).toBeGreaterThan(hinted[kind]);
  },
);

test('hinted is best across two memories, since it follows links, and loses no paraphrase by it', () => {
  expect(hinted['multi-hop']).toBeGreaterThan(router['multi-hop'] + 0.1);
  expect(hinted['multi-hop']).toBeGreaterThan(salience['multi-hop']);
  expect(hinted.paraphrase).toBeGreaterThan(router.paraphrase - 0.05);
});

test('salience knows what was said often, by its reinforcement: meaning and words do not tell', async () => {
  const countTokens = (texts: readonly string[]) => Promise.resolve(texts.map((text) => Math.ceil(text.length / 4)));
  const others = { semantic: 0.625, reinforcement: 0, recency: 0.25, access: 0.125 };
  const shareFirst = async (retriever: Retriever): Promise<number> => {
    const asked: boolean[] = [];
    for (const { userId, memories, questions } of drawRepeatedMentions(23, 10)) {
      await retriever.addMemories(memories.map((memory) => ({ ...memoryEntry(memory), userId })));
      for (const { category: kind, query, evidence, askedAt } of questions) {
        if (kind !== 'said 5 times') continue;
        const options = { userId, topK: 10, threshold: -1, now: new Date(askedAt) };
        asked.push(evidence[0] === (await retriever.retrieve(query, options)).memories[0]!.memoryId);
      }
    }
    await retriever.close();
    expect(asked).toHaveLength(20);
    return asked.filter(Boolean).length / asked.length;
  };
  const index = new MemoryRouter(embeddings, { backend, topK: 10, threshold: -1 });
  const [nearest, often, unreinforced] = [
    await shareFirst(new RouterRetriever(index, embeddings)),
    await shareFirst(new SalienceRetriever(embeddings, { backend, countTokens })),
    await shareFirst(
      new SalienceRetriever(embeddings, { backend, countTokens, rule: { weights: others, halfLifeDays: 30 } }),
    ),
  ];
  expect(often).toBeGreaterThan(0.6);
  expect(Math.max(nearest, unreinforced)).toBeLessThan(0.4);
});
