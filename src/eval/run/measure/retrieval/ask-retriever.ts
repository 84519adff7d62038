import { indexChanges } from '../../../../data/dataset.ts';
import type { RetrievalMeasurement } from '../../../../store/records/results.ts';
import type { Retriever } from '../../../../retrieval/retriever.ts';
import { ndcgAtK, recallAtK, reciprocalRank } from '../../../analysis/metrics/retrieval.ts';
import type { AskedUser } from './question-set.ts';

const TOP_K = 10;

/** One question asked of one strategy. */
export interface Asked {
  readonly userId: string;
  readonly questionId: string;
  readonly kind: string;
  readonly metrics: Readonly<Record<keyof RetrievalMeasurement['metrics'], number>>;
  readonly timingsMs: RetrievalMeasurement['timingsMs'];
  readonly budgetTokens: RetrievalMeasurement['budgetTokens'];
}

/** Asks a strategy every question of the users, over the memories that each had at that time. */
export async function askRetriever(
  retriever: Retriever,
  users: readonly AskedUser[],
  signal: AbortSignal,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const user of users) {
    let indexed: ReadonlySet<string> = new Set();
    for (const question of user.questions) {
      signal.throwIfAborted();
      indexed = await indexedFor(retriever, user, question.askedAt, indexed);
      asked.push(await ask(retriever, user.userId, question));
    }
    // What being asked has left behind is of no use to the next user.
    await retriever.reset();
  }
  return asked;
}

/** Puts the memories of that time into the index; returns their ids. */
async function indexedFor(
  retriever: Retriever,
  { userId, memories }: AskedUser,
  askedAt: string,
  indexed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const now = Date.parse(askedAt);
  const visible = memories.filter(({ metadata }) => Date.parse(metadata.createdAt) <= now);
  const { removed, added } = indexChanges(indexed, visible);
  for (const memoryId of removed) await retriever.removeMemory(memoryId, userId);
  if (added.length > 0) await retriever.addMemories(added.map((memory) => ({ ...memory, userId })));
  return new Set(visible.map(({ memoryId }) => memoryId));
}

async function ask(
  retriever: Retriever,
  userId: string,
  { questionId, kind, query, evidence, askedAt, history, passages }: AskedUser['questions'][number],
): Promise<Asked> {
  const options = { userId, topK: TOP_K, threshold: -1, now: new Date(askedAt), history, passages };
  const { memories: found, timingsMs, tokensUsed, tokenBudget } = await retriever.retrieve(query, options);
  const ranked = found.map(({ memoryId }) => memoryId);
  const { embedding, search, ranking } = timingsMs;
  return {
    userId,
    questionId,
    kind,
    metrics: {
      recallAt1: recallAtK(ranked, evidence, 1),
      recallAt5: recallAtK(ranked, evidence, 5),
      recallAt10: recallAtK(ranked, evidence, 10),
      mrr: reciprocalRank(ranked, evidence),
      ndcgAt10: ndcgAtK(ranked, evidence, 10),
    },
    timingsMs: { embedding, search, ranking, total: embedding + search + ranking },
    budgetTokens: tokenBudget === undefined ? null : { used: tokensUsed ?? 0, limit: tokenBudget },
  };
}
