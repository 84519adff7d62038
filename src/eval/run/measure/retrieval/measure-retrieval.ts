import { RETRIEVAL_MEMORIES } from '../../../../data/generators/retrieval-data.ts';
import type { RetrievalMeasurements } from '../../../../store/records/results.ts';
import type { MeasureContext } from '../../suite.ts';
import { askRetriever } from './ask-retriever.ts';
import {
  type DatasetQuestions,
  madeQuestions,
  mentionQuestions,
  type QuestionSet,
  questionsOf,
} from './question-set.ts';
import { type MeasuredStrategy, retrievalRows } from './retrieval-rows.ts';
import { datasetStrategies, mentionStrategies, searchingStrategies, type Strategy } from './strategies.ts';

/** The questions of one strategy, with an index of its own. */
interface Step {
  readonly set: QuestionSet;
  readonly strategy: Strategy;
}

type Stats = Record<string, Readonly<Record<string, unknown>>>;

/**
 * Every strategy on the same questions, by kind: those made by the seed of the run, then those of its data sets; and the
 * strategy that reinforces on questions about what was said several times.
 */
export async function measureRetrieval(context: MeasureContext): Promise<RetrievalMeasurements> {
  const { config, datasets } = context;
  const made = madeQuestions(config.seed);
  const sets = datasets.map(questionsOf);
  const asking = sets.filter(({ users }) => users.some(({ questions }) => questions.length > 0));
  const ofData = datasetStrategies(config);
  const mentions = mentionQuestions(config.seed);
  const steps = [
    ...searchingStrategies(config).map((strategy): Step => ({ set: made, strategy })),
    ...asking.flatMap((set) => ofData.map((strategy): Step => ({ set, strategy }))),
    ...mentionStrategies(config).map((strategy): Step => ({ set: mentions, strategy })),
  ];
  const stats: Stats = {};
  const measured = new Map<QuestionSet, MeasuredStrategy[]>();
  for (const [done, { set, strategy }] of steps.entries()) {
    context.onStep(done, steps.length);
    const { asked, counted } = await measuredStep({ set, strategy }, context);
    measured.set(set, [...(measured.get(set) ?? []), { strategy, asked }]);
    if (set === made) stats[strategy.label] = counted;
  }
  return {
    users: made.users.length,
    memories: RETRIEVAL_MEMORIES,
    datasets: [...sets, mentions].map(describedSet),
    rows: [...measured].flatMap(([set, strategies]) => retrievalRows(strategies, set.dataset, config.seed)),
    stats,
  };
}

async function measuredStep(
  { set, strategy }: Step,
  { openRetriever, signal }: MeasureContext,
): Promise<Pick<MeasuredStrategy, 'asked'> & { readonly counted: Stats[string] }> {
  const retriever = await openRetriever(...strategy.opening);
  try {
    const asked = await askRetriever(retriever, set.users, signal);
    return { asked, counted: retriever.stats() };
  } finally {
    await retriever.close();
  }
}

function describedSet({
  dataset: name,
  users,
  leftOut,
}: DatasetQuestions): NonNullable<RetrievalMeasurements['datasets']>[number] {
  const count = (own: (user: QuestionSet['users'][number]) => number): number =>
    users.reduce((sum, user) => sum + own(user), 0);
  return {
    name,
    users: users.length,
    memories: count(({ memories }) => memories.length),
    questions: count(({ questions }) => questions.length),
    leftOut,
  };
}
