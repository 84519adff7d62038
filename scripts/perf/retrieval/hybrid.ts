import type { EmbeddingService } from '../../../src/models/embedding/embedding-service.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { drawEmbeddingPairs } from '../../train/documents/embedding-pairs.ts';
import { MemoryRouter } from '../../../src/retrieval/memory-router.ts';
import type { Retriever } from '../../../src/retrieval/retriever.ts';
import { HintedRetriever } from '../../../src/retrieval/hinted/hinted-retriever.ts';
import { readPreRetrievalConfig } from '../../../src/retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { RouterRetriever } from '../../../src/retrieval/router-retriever.ts';
import { SalienceRetriever } from '../../../src/retrieval/salience/salience-retriever.ts';
import { chooseVectorBackend } from '../../../src/retrieval/vectors/vector-backend.ts';
import { retrievalTimes } from './times.ts';

const USER = 'ann';
const QUERIES = 200;
const ROUNDS = 5;

/** Time of a strategy beside vector search alone. */
export interface HybridFigures {
  readonly name: string;
  /** Median of search and ranking, embedding excluded. */
  readonly ms: number;
  readonly timesVectorSearch: number;
}

/**
 * Strategies over sentences of the data's own grammar, whose words are as frequent as words are: search and ranking of
 * one question after the other, in rounds by turns.
 */
export async function benchHybrid(
  embeddings: EmbeddingService,
  memories: number,
  topK: number,
): Promise<HybridFigures[]> {
  const { backend } = chooseVectorBackend();
  const drawn = drawEmbeddingPairs(new SeededRandom(1), memories, { heldOut: false, phrasing: 'known' });
  const questions = drawn.questions.slice(0, QUERIES);
  const countTokens = async (texts: readonly string[]): Promise<number[]> =>
    texts.map((text) => Math.ceil(text.length / 4));
  const hinted = (config: object): Retriever =>
    new HintedRetriever(embeddings, { backend, ...readPreRetrievalConfig(config, 'bench') });
  const strategies: Readonly<Record<string, Retriever>> = {
    'vector search alone': new RouterRetriever(
      new MemoryRouter(embeddings, { backend, topK, threshold: -1 }),
      embeddings,
    ),
    'salience, hybrid': new SalienceRetriever(embeddings, { backend, countTokens }),
    'hinted, semantic': hinted({ action: ['route', 'embedding'], keyword_rules: [] }),
    'hinted, deep': hinted({ action: ['route', 'embedding'], keyword_rules: [], default_strategy: 'deep_search' }),
  };
  const options = { userId: USER, topK, threshold: -1, now: new Date('2026-06-01T00:00:00Z') };
  const times = new Map<string, number[]>();
  for (const [name, retriever] of Object.entries(strategies)) {
    times.set(name, []);
    const createdAt = '2026-01-01T00:00:00Z';
    await retriever.addMemories(
      drawn.memories.map((content, index) => ({
        memoryId: `m${index}`,
        userId: USER,
        content,
        metadata: { createdAt },
      })),
    );
    await retriever.retrieve('warm up', options);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, retriever] of Object.entries(strategies)) {
      const ofRound = await retrievalTimes(questions.length, (index) => retriever.retrieve(questions[index]!, options));
      times.get(name)!.push(...ofRound);
    }
  }
  for (const retriever of Object.values(strategies)) await retriever.close();
  const medians = [...times].map(([name, all]) => ({ name, ms: all.sort((a, b) => a - b)[all.length >> 1]! }));
  return medians.map(({ name, ms }) => ({ name, ms, timesVectorSearch: ms / medians[0]!.ms }));
}
