import type { RetrievalMeasurement } from '../../../../store/records/results.ts';
import { estimateShare } from '../../../analysis/statistics/estimate.ts';
import { observationsOf, pairedObservationsOf } from '../../../analysis/statistics/observations.ts';
import { pairedTotals } from '../../../analysis/statistics/paired-totals.ts';
import { signFlipP } from '../../../analysis/statistics/sign-flip.ts';
import { shareGain } from '../../../analysis/summary/paired-quality.ts';
import type { Asked } from './ask-retriever.ts';
import { BASE, type Strategy } from './strategies.ts';

/** One strategy on one set of questions. */
export interface MeasuredStrategy {
  readonly strategy: Strategy;
  readonly asked: readonly Asked[];
}

/** Rows of all questions and of each kind, strategy by strategy; recall@5 against the router, paired by question. */
export function retrievalRows(
  measured: readonly MeasuredStrategy[],
  dataset: string | undefined,
  seed: number,
): RetrievalMeasurement[] {
  const router = measured.find(({ strategy }) => strategy.label === BASE)!;
  const base = new Map(router.asked.map((one) => [one.questionId, one]));
  return measured.flatMap(({ strategy, asked }) => {
    const of = (kind: string, some: readonly Asked[]): RetrievalMeasurement => ({
      ...(dataset === undefined ? {} : { dataset }),
      ...identityOf(strategy),
      kind,
      ...row(some),
      againstRouter: strategy.label === BASE ? null : againstRouter(some, base, seed),
    });
    return [of('all', asked), ...[...Map.groupBy(asked, ({ kind }) => kind)].map(([kind, some]) => of(kind, some))];
  });
}

function identityOf({ label, embedder }: Strategy): Pick<RetrievalMeasurement, 'strategy' | 'embedder'> {
  return { strategy: label, ...(embedder === undefined ? {} : { embedder }) };
}

function mean(asked: readonly Asked[], value: (one: Asked) => number): number {
  return asked.reduce((sum, one) => sum + value(one), 0) / asked.length;
}

function againstRouter(
  asked: readonly Asked[],
  router: ReadonlyMap<string, Asked>,
  seed: number,
): RetrievalMeasurement['againstRouter'] {
  const pairs = pairedObservationsOf(
    asked.map(({ userId, questionId, metrics }) => ({
      userId,
      a: metrics.recallAt5,
      b: router.get(questionId)!.metrics.recallAt5,
    })),
  );
  return { ...shareGain(pairs), p: signFlipP(pairedTotals(pairs).differences, seed) };
}

function row(asked: readonly Asked[]): Pick<RetrievalMeasurement, 'n' | 'metrics' | 'timingsMs' | 'budgetTokens'> {
  const metric = (name: keyof RetrievalMeasurement['metrics']) =>
    estimateShare(observationsOf(asked.map(({ userId, metrics }) => ({ userId, value: metrics[name] }))));
  const budgeted = asked.every(({ budgetTokens }) => budgetTokens !== null);
  return {
    n: asked.length,
    metrics: {
      recallAt1: metric('recallAt1'),
      recallAt5: metric('recallAt5'),
      recallAt10: metric('recallAt10'),
      mrr: metric('mrr'),
      ndcgAt10: metric('ndcgAt10'),
    },
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
