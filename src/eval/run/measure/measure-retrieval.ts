import { type BenchConfig, searchingRetrieverNames } from '../../../config/bench-config.ts';
import { type SalienceWeights, writeSalienceWeights } from '../../../config/salience-weights.ts';
import type { DatasetItem, DatasetMemory } from '../../../data/dataset.ts';
import { drawRepeatedMentions } from '../../../data/generators/repeated-mentions.ts';
import { RETRIEVAL_MEMORIES, retrievalUsers } from '../../../data/generators/retrieval-data.ts';
import { presetEmbedderName, presetModels } from '../../../models/default-models.ts';
import type { Retriever } from '../../../retrieval/retriever.ts';
import type { RetrievalMeasurement, RetrievalMeasurements } from '../../../store/records/suite-measurements.ts';
import { ndcgAtK, recallAtK, reciprocalRank } from '../../analysis/metrics/retrieval-metrics.ts';
import { estimateShare } from '../../analysis/statistics/estimate-mean.ts';
import { mean, type Pair } from '../../analysis/statistics/observations.ts';
import { pairedTotals } from '../../analysis/statistics/paired-difference.ts';
import { signFlipP } from '../../analysis/statistics/p-values.ts';
import { shareGain } from '../../analysis/statistics/paired-quality.ts';
import { salienceRule } from '../open-run-retriever.ts';
import type { DrawnDataset } from '../plan/plan-users.ts';
import { memoryEntry } from '../data-to-system-input.ts';
import type { MeasureContext } from '../suite.ts';
import { indexChanges, visibleMemories } from '../../../data/visible-memories.ts';

const TOP_K = 10;
const BASE = 'router' as const;
/** pgvector's default: it searches one list of ivfflat, not all of them. */
const DEFAULT_PROBES = 'ivfflat-approximate';

interface RetrievalUser {
  readonly userId: string;
  readonly memories: readonly DatasetMemory[];
  readonly questions: readonly (Pick<DatasetItem, 'itemId' | 'query' | 'evidence' | 'category' | 'askedAt'> &
    Partial<Pick<DatasetItem, 'history' | 'passages'>>)[];
}

interface QuestionSet {
  /** Undefined for the questions generated for this suite. */
  readonly dataset: string | undefined;
  readonly users: readonly RetrievalUser[];
  readonly leftOut: number;
}

export interface Strategy {
  readonly label: string;
  readonly opening: Parameters<MeasureContext['openRetriever']>;
  readonly embedder?: string;
}

type Metrics = RetrievalMeasurement['metrics'];

const METRICS: Readonly<Record<keyof Metrics, (ranked: readonly string[], evidence: readonly string[]) => number>> = {
  recallAt1: (ranked, evidence) => recallAtK(ranked, evidence, 1),
  recallAt5: (ranked, evidence) => recallAtK(ranked, evidence, 5),
  recallAt10: (ranked, evidence) => recallAtK(ranked, evidence, 10),
  mrr: reciprocalRank,
  ndcgAt10: (ranked, evidence) => ndcgAtK(ranked, evidence, 10),
};

type Retrieved = Awaited<ReturnType<typeof retrieve>>;

interface MeasuredStrategy {
  readonly strategy: Strategy;
  readonly retrieved: readonly Retrieved[];
}

/** Measures retrievers on generated questions, on those of the data, and on repeated mentions. */
export async function measureRetrieval(context: MeasureContext): Promise<RetrievalMeasurements> {
  const { config, datasets, openRetriever, onStep, signal } = context;
  const generated: QuestionSet = { dataset: undefined, users: retrievalUsers(config.seed), leftOut: 0 };
  const mentions: QuestionSet = { dataset: 'repeated mentions', users: drawRepeatedMentions(config.seed), leftOut: 0 };
  const sets = datasets.map(questionSet);
  const compared = [
    { set: generated, strategies: searchingStrategies(config) },
    ...sets
      .filter(({ users }) => count(users, 'questions') > 0)
      .map((set) => ({ set, strategies: datasetStrategies(config) })),
    { set: mentions, strategies: mentionStrategies(config) },
  ];
  const stats: Record<string, Readonly<Record<string, unknown>>> = {};
  const rows: RetrievalMeasurement[] = [];
  let done = 0;
  for (const { set, strategies } of compared) {
    const measured: MeasuredStrategy[] = [];
    for (const strategy of strategies) {
      onStep(done++, count(compared, 'strategies'));
      const retriever = await openRetriever(...strategy.opening);
      try {
        measured.push({ strategy, retrieved: await retrieveAll(retriever, set.users, signal) });
        if (set === generated) stats[strategy.label] = retriever.stats();
      } finally {
        await retriever.close();
      }
    }
    rows.push(...retrievalRows(measured, set.dataset, config.seed));
  }
  return {
    users: generated.users.length,
    memories: RETRIEVAL_MEMORIES,
    datasets: [...sets, mentions].map(({ dataset, users, leftOut }) => ({
      name: dataset!,
      users: users.length,
      memories: count(users, 'memories'),
      questions: count(users, 'questions'),
      leftOut,
    })),
    rows,
    stats,
  };
}

export function questionSet({ part, users }: DrawnDataset): QuestionSet {
  const answered = users.map(({ userId, memories, items }) => ({
    userId,
    memories,
    questions: items.filter(({ evidence }) => evidence.length > 0),
  }));
  return { dataset: part.name, users: answered, leftOut: count(users, 'items') - count(answered, 'questions') };
}

function count<Name extends string>(users: readonly Readonly<Record<Name, readonly unknown[]>>[], name: Name): number {
  return users.reduce((sum, user) => sum + user[name].length, 0);
}

/** Retrievers that search; `router` also with the bundled embedder, `tiered` also with pgvector's default probes. */
export function searchingStrategies({ cold, coldIndex, embedder }: BenchConfig): Strategy[] {
  return searchingRetrieverNames.flatMap((name): Strategy[] => {
    const own: Strategy = { label: name, opening: [name] };
    if (name === BASE && embedder !== presetModels.embedder) {
      const opening: Strategy['opening'] = [name, { embedder: presetModels.embedder }];
      return [own, { label: `${name}, ${presetEmbedderName}`, opening, embedder: presetEmbedderName }];
    }
    if (name === 'tiered' && cold !== undefined && coldIndex !== DEFAULT_PROBES) {
      return [own, { label: `${name}, ${DEFAULT_PROBES}`, opening: [name, { coldIndex: DEFAULT_PROBES }] }];
    }
    return [own];
  });
}

/** Retrievers for a data set: those that search and, with `--retriever given`, the lists in its items. */
export function datasetStrategies(config: BenchConfig): Strategy[] {
  const searching = searchingStrategies(config);
  return config.retriever === 'given' ? [...searching, { label: 'given', opening: ['given'] }] : searching;
}

export function mentionStrategies(config: Pick<BenchConfig, 'halfLife' | 'salienceWeights'>): Strategy[] {
  const compared: Strategy[] = [BASE, 'salience' as const].map((name) => ({ label: name, opening: [name] }));
  const salienceWeights = withoutReinforcement(salienceRule(config).weights);
  if (salienceWeights === undefined) return compared;
  return [...compared, { label: 'salience, reinforcement=0', opening: ['salience', { salienceWeights }] }];
}

/** The other weights in their proportion; undefined if the weight of reinforcement is 0 or 1. */
function withoutReinforcement({ semantic, reinforcement, recency, access }: SalienceWeights): string | undefined {
  const rest = 1 - reinforcement;
  if (rest === 1 || rest === 0) return undefined;
  const others = { semantic: semantic / rest, recency: recency / rest, access: access / rest };
  return writeSalienceWeights({ ...others, reinforcement: 0 });
}

export async function retrieveAll(retriever: Retriever, users: readonly RetrievalUser[], signal: AbortSignal) {
  const results: Retrieved[] = [];
  for (const user of users) {
    const { userId } = user;
    let indexed: ReadonlySet<string> = new Set();
    for (const question of user.questions) {
      signal.throwIfAborted();
      const visible = visibleMemories(user, question);
      const { removed, added } = indexChanges(indexed, visible);
      for (const memoryId of removed) await retriever.removeMemory(memoryId, userId);
      if (added.length > 0) await retriever.addMemories(added.map((memory) => ({ ...memoryEntry(memory), userId })));
      indexed = new Set(visible.map(({ memoryId }) => memoryId));
      results.push(await retrieve(retriever, userId, question));
    }
    // State left by the questions is of no use to the next user.
    await retriever.reset();
  }
  return results;
}

async function retrieve(
  retriever: Retriever,
  userId: string,
  { itemId, category, query, evidence, askedAt, history, passages }: RetrievalUser['questions'][number],
) {
  const options = { userId, topK: TOP_K, threshold: -1, now: new Date(askedAt), history, passages };
  const { memories, timingsMs, tokensUsed, tokenBudget } = await retriever.retrieve(query, options);
  const ranked = memories.map(({ memoryId }) => memoryId);
  const { embedding, search, ranking } = timingsMs;
  return {
    userId,
    questionId: itemId,
    kind: category,
    metrics: mapValues(METRICS, (metric) => metric(ranked, evidence)),
    timingsMs: { embedding, search, ranking, total: embedding + search + ranking },
    budgetTokens: tokenBudget === undefined ? null : { used: tokensUsed ?? 0, limit: tokenBudget },
  };
}

/** Rows per strategy: all questions, then each kind. Recall@5 is compared with the router's, paired by question. */
export function retrievalRows(measured: readonly MeasuredStrategy[], dataset: string | undefined, seed: number) {
  const router = measured.find(({ strategy }) => strategy.label === BASE)!;
  const base = new Map(router.retrieved.map(({ questionId, metrics }) => [questionId, metrics.recallAt5]));
  return measured.flatMap(({ strategy: { label, embedder }, retrieved }) => {
    const row = (kind: string, some: readonly Retrieved[]): RetrievalMeasurement => {
      const pairs = some.map(({ userId, questionId, metrics }): Pair => {
        return { userId, a: metrics.recallAt5, b: base.get(questionId)! };
      });
      const p = (): number => signFlipP(pairedTotals(pairs).differences, seed);
      return {
        ...(dataset === undefined ? {} : { dataset }),
        strategy: label,
        ...(embedder === undefined ? {} : { embedder }),
        kind,
        ...means(some),
        againstRouter: label === BASE ? null : { ...shareGain(pairs), p: p() },
      };
    };
    const kinds = Map.groupBy(retrieved, ({ kind }) => kind);
    return [row('all', retrieved), ...[...kinds].map(([kind, some]) => row(kind, some))];
  });
}

function means(retrieved: readonly Retrieved[]) {
  const budgets = retrieved.flatMap(({ budgetTokens }) => budgetTokens ?? []);
  return {
    n: retrieved.length,
    metrics: mapValues(METRICS, (_, name) =>
      estimateShare(retrieved.map(({ userId, metrics }) => ({ userId, value: metrics[name] }))),
    ),
    timingsMs: mapValues(retrieved[0]!.timingsMs, (_, name) => mean(retrieved.map((one) => one.timingsMs[name]))),
    budgetTokens:
      budgets.length < retrieved.length
        ? null
        : mapValues(budgets[0]!, (_, name) => mean(budgets.map((one) => one[name]))),
  };
}

function mapValues<Name extends string, A, B>(values: Readonly<Record<Name, A>>, map: (value: A, name: Name) => B) {
  const entries = Object.entries(values) as [Name, A][];
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)])) as Record<Name, B>;
}
