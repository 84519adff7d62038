import type { BenchConfig } from '../../config/bench-config.ts';
import { type ColdIndexName, type RetrieverName, searchingRetrieverNames } from '../../config/retriever-names.ts';
import type { Retriever } from '../../retrieval/retriever.ts';
import { groupBy } from '../../config/group-by.ts';
import { ndcgAtK, recallAtK, reciprocalRank } from '../analysis/metrics/retrieval.ts';
import type { RetrievalMeasurement, RetrievalMeasurements } from '../../records/results.ts';
import { bootstrapDifference } from '../analysis/statistics/bootstrap.ts';
import { estimateShare } from '../analysis/statistics/estimate.ts';
import { differences, meanOf, type PairedObservation } from '../analysis/statistics/observations.ts';
import { signFlipP } from '../analysis/statistics/sign-flip.ts';
import type { MeasureContext } from '../run/suite.ts';
import { RETRIEVAL_MEMORIES, retrievalUsers } from '../../data/generators/retrieval-data.ts';
import type { RetrievalUser } from '../../data/generators/retrieval-set.ts';

const TOP_K = 10;
const BASE = 'router';

/** One question asked of one strategy. */
interface Asked {
  readonly userId: string;
  readonly questionId: string;
  readonly kind: string;
  readonly metrics: Readonly<Record<keyof RetrievalMeasurement['metrics'], number>>;
  readonly timingsMs: RetrievalMeasurement['timingsMs'];
  readonly budgetTokens: RetrievalMeasurement['budgetTokens'];
}

async function askAll(retriever: Retriever, users: readonly RetrievalUser[], signal: AbortSignal): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const { userId, memories, questions } of users) {
    await retriever.addMemories(memories.map((memory) => ({ ...memory, userId })));
    for (const { questionId, kind, query, evidence, askedAt } of questions) {
      signal.throwIfAborted();
      const options = { userId, topK: TOP_K, threshold: -1, now: new Date(askedAt) };
      const { memories: found, timingsMs, tokensUsed, tokenBudget } = await retriever.retrieve(query, options);
      const ranked = found.map(({ memoryId }) => memoryId);
      const { embedding, search, ranking } = timingsMs;
      asked.push({
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
      });
    }
    // What being asked has left behind is of no use to the next user.
    await retriever.reset();
  }
  return asked;
}

function mean(asked: readonly Asked[], value: (one: Asked) => number): number {
  return asked.reduce((sum, one) => sum + value(one), 0) / asked.length;
}

function againstRouter(
  asked: readonly Asked[],
  router: ReadonlyMap<string, Asked>,
  seed: number,
): RetrievalMeasurement['againstRouter'] {
  const pairs = asked.map(({ userId, questionId, metrics }): PairedObservation => ({
    userId,
    a: metrics.recallAt5,
    b: router.get(questionId)!.metrics.recallAt5,
  }));
  return { delta: meanOf(differences(pairs)), ...bootstrapDifference(pairs, seed), p: signFlipP(pairs, seed) };
}

function row(
  strategy: string,
  kind: string,
  asked: readonly Asked[],
  router: ReadonlyMap<string, Asked>,
  seed: number,
): RetrievalMeasurement {
  const metric = (name: keyof RetrievalMeasurement['metrics']) =>
    estimateShare(
      asked.map(({ userId, metrics }) => ({ userId, value: metrics[name] })),
      seed,
    );
  const budgeted = asked.every(({ budgetTokens }) => budgetTokens !== null);
  return {
    strategy,
    kind,
    n: asked.length,
    metrics: {
      recallAt1: metric('recallAt1'),
      recallAt5: metric('recallAt5'),
      recallAt10: metric('recallAt10'),
      mrr: metric('mrr'),
      ndcgAt10: metric('ndcgAt10'),
    },
    againstRouter: strategy === BASE ? null : againstRouter(asked, router, seed),
    timingsMs: {
      embedding: mean(asked, ({ timingsMs }) => timingsMs.embedding),
      search: mean(asked, ({ timingsMs }) => timingsMs.search),
      ranking: mean(asked, ({ timingsMs }) => timingsMs.ranking),
      total: mean(asked, ({ timingsMs }) => timingsMs.total),
    },
    budgetTokens: budgeted
      ? {
          used: mean(asked, ({ budgetTokens }) => budgetTokens!.used),
          limit: mean(asked, ({ budgetTokens }) => budgetTokens!.limit),
        }
      : null,
  };
}

/** The index of pgvector's own default: it searches one list of ivfflat, not all of them. */
const OWN_PROBES = 'ivfflat-approximate';

type Strategy = readonly [label: string, name: RetrieverName, coldIndex?: ColdIndexName];

/** Every strategy as the run opens it; where long-term memory lies in PostgreSQL, `tiered` by pgvector's own probes, too. */
function strategiesOf({ cold, coldIndex }: BenchConfig): Strategy[] {
  return searchingRetrieverNames.flatMap((name): Strategy[] =>
    name === 'tiered' && cold !== undefined && coldIndex !== OWN_PROBES
      ? [[name, name] as const, [`${name}, ${OWN_PROBES}`, name, OWN_PROBES] as const]
      : [[name, name] as const],
  );
}

/** Every strategy of recall on the same questions, by kind; recall@5 against the router, paired by question. */
export async function measureRetrieval({
  config,
  openRetriever,
  signal,
}: MeasureContext): Promise<RetrievalMeasurements> {
  const { seed } = config;
  const users = retrievalUsers(seed);
  const stats: Record<string, Readonly<Record<string, unknown>>> = {};
  const asked = new Map<string, Asked[]>();
  for (const [strategy, ...opening] of strategiesOf(config)) {
    const retriever = await openRetriever(...opening);
    try {
      asked.set(strategy, await askAll(retriever, users, signal));
      stats[strategy] = retriever.stats();
    } finally {
      await retriever.close();
    }
  }
  const router = new Map(asked.get(BASE)!.map((one) => [one.questionId, one]));
  const rows = [...asked].flatMap(([strategy, all]) => [
    row(strategy, 'all', all, router, seed),
    ...[...groupBy(all, ({ kind }) => kind)].map(([kind, some]) => row(strategy, kind, some, router, seed)),
  ]);
  return { users: users.length, memories: RETRIEVAL_MEMORIES, rows, stats };
}
