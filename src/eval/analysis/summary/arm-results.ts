import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { ArmResults, BreakdownPart, RetrievalKind } from '../../../store/records/run-results.ts';
import { type AnsweredResult, cacheStates, funnelStages, wrongClasses } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { type MetricDefinition, supersededMetric } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { meanDifference, pairedTotals } from '../statistics/paired-difference.ts';
import { countUsers, pairItems, perItem } from '../statistics/observations.ts';
import type { DesignEffects } from './metric-estimates.ts';
import { estimateMetric, latency, meanCost, meanOver, qualityEstimates, tokenMeans } from './metric-estimates.ts';
import type { CacheSplit } from './arms-by-role.ts';
import { estimateShare } from '../statistics/estimate-mean.ts';
import { shareGain, tally } from '../statistics/paired-quality.ts';

const GOLD = 'goldLogProb';

/** Metrics of a breakdown beside exact match, the primary metric and task success. */
const ONLY_BY: Readonly<Record<string, readonly string[]>> = {
  language: ['tokenF1', 'memoryRecall', 'abstention'],
  category: [GOLD],
};

/** Metrics by user kind, category, phrasing and language. @param baseline turns to compare categories with */
function breakdown(turns: Turns, baseline: Turns, { all, primary }: RunMetrics, effects: DesignEffects) {
  return (['userKind', 'category', 'phrasing', 'language'] as const).flatMap((field) => {
    const names = ['exactMatch', primary.name, 'taskSuccess', ...(ONLY_BY[field] ?? [])];
    const shown = [...new Set(names)].flatMap((name) => all.find((metric) => metric.name === name) ?? []);
    return [...Map.groupBy(turns, ({ item }) => item[field])]
      .filter(([value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([value, some]) => {
        const superseded = estimateMetric(supersededMetric, some, effects);
        const metrics = {
          ...Object.fromEntries(shown.map((metric) => [metric.name, estimateMetric(metric, some, effects)])),
          ...(superseded && { superseded }),
        } as BreakdownPart['metrics'];
        const differences = field === 'category' ? categoryDifferences(baseline, some, all) : {};
        return { field, value, n: some.length, metrics, ...differences };
      });
  });
}

function counts<Name extends string>(
  names: readonly Name[],
  turns: Turns,
  namesOfTurn: (turn: AnsweredResult) => readonly Name[],
): Record<Name, number> {
  const found = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  for (const name of turns.flatMap(namesOfTurn)) found[name]++;
  return found;
}

/** By user: `everything` if the primary arm always retrieved all memories, so that one set recurs; else `selection`. */
export function retrievalKinds(answered: Turns, arms: readonly ArmTraits[]): ReadonlyMap<string, RetrievalKind> {
  const primary = arms.find(({ comparison }) => comparison === 'primary')?.name;
  const kinds = new Map<string, RetrievalKind>();
  for (const { userId, item, facts } of turnsOfArm(answered, primary)) {
    if (item.memories > facts.retrievedMemories) kinds.set(userId, 'selection');
    else if (!kinds.has(userId)) kinds.set(userId, 'everything');
  }
  return kinds;
}

/** Costs by the retrieval kind of the user, with the number of cache hits of the primary arm. */
function costByRetrieval(turns: Turns, split: CacheSplit, kinds: ReadonlyMap<string, RetrievalKind>) {
  const byRetrieval = (['everything', 'selection'] as const).flatMap((kind) => {
    const some = turns.filter(({ userId }) => kinds.get(userId) === kind);
    if (some.length === 0) return [];
    const hits = split.hits(some);
    const counts = { users: countUsers(some), usersWithHits: countUsers(hits), turns: some.length, hits: hits.length };
    return [{ kind, ...counts, costHit: meanCost(hits), costAll: meanCost(some) }];
  });
  return byRetrieval.length === 0 ? {} : { byRetrieval };
}

interface ResultsSettings {
  /** Turns of the baseline; empty if it did not run. */
  readonly baseline: Turns;
  readonly metrics: RunMetrics;
  readonly split: CacheSplit;
  readonly effects: DesignEffects;
  readonly kinds: ReadonlyMap<string, RetrievalKind>;
  /** False for random weights, whose scores are null. */
  readonly qualityKnown: boolean;
}

/** The results of one arm; its costs are over the cache hits of the primary arm, the same items for every arm. */
export function armResults(
  arm: ArmTraits,
  answered: Turns,
  errors: number,
  { baseline, metrics, split, effects, kinds, qualityKnown }: ResultsSettings,
): ArmResults {
  const others = arm.comparison === 'baseline' || !qualityKnown ? [] : baseline;
  const fidelity = fidelityTo(others, answered);
  const [hits, misses] = [split.hits(answered), split.misses(answered)];
  const workedAhead = answered.some(({ account }) => account.ahead !== undefined);
  const ahead = (part: 'tokens' | 'ms') => meanOver(answered, ({ account }) => account.ahead?.[part] ?? 0);
  const turns = counts(cacheStates, answered, ({ account }) => [account.cache]);
  const injected = turns.hit + turns.miss;
  const funnel = counts(funnelStages, answered, ({ scores }) => scores.passedStages);
  return {
    arm: arm.name,
    traits: arm,
    n: answered.length,
    errors,
    metrics: {
      ...qualityEstimates(answered, metrics, effects),
      ttftMs: latency(hits, 'firstToken'),
      totalMs: latency(hits, 'total'),
    },
    breakdown: breakdown(answered, others, metrics, effects),
    ...(fidelity && { fidelity }),
    tokens: hits.length === 0 ? null : tokenMeans(hits),
    turns,
    costHit: meanCost(hits),
    costMiss: meanCost(misses),
    costAll: meanCost(answered),
    ...costByRetrieval(answered, split, kinds),
    ...(workedAhead && { ahead: { tokens: ahead('tokens'), ms: ahead('ms') } }),
    hitRate: injected === 0 ? null : turns.hit / injected,
    wrong: qualityKnown
      ? counts(wrongClasses, answered, ({ scores }) => (scores.wrongClass === null ? [] : [scores.wrongClass]))
      : null,
    funnel: qualityKnown ? funnel : { ...funnel, answered: null },
  };
}

function isRight({ scores: { taskSuccess } }: AnsweredResult): number | null {
  return taskSuccess === null ? null : Number(taskSuccess === 1);
}

/** The share of answers equal to the baseline's, and items that turn right or wrong; undefined without common items. */
function fidelityTo(baseline: Turns, turns: Turns): ArmResults['fidelity'] {
  const counterpart = counterpartIn(baseline);
  const sameAnswer = estimateShare(
    perItem(turns, (turn) => {
      const other = counterpart(turn);
      return other === undefined ? null : Number(other.answer.text === turn.answer.text);
    }),
  );
  const flips = pairItems(perItem(turns, isRight), perItem(baseline, isRight));
  if (sameAnswer === null || flips.length === 0) return undefined;
  const { n, wins, losses } = tally(flips, 'higher');
  return { against: baseline[0]!.arm, sameAnswer, n, lost: losses, won: wins };
}

/** Task success and ln p of the gold minus those of the baseline on the same items, where both have a value. */
function categoryDifferences(baseline: Turns, turns: Turns, all: RunMetrics['all']) {
  const pairsBy = (value: MetricDefinition['of']) => pairItems(perItem(turns, value), perItem(baseline, value));
  const success = pairsBy(({ scores }) => scores.taskSuccess);
  const golds = pairsBy(all.find(({ name }) => name === GOLD)!.of);
  const { n, users, wins, losses } = tally(success, 'higher');
  const gold = golds.length === 0 ? undefined : meanDifference(pairedTotals(golds));
  return {
    ...(n > 0 && { difference: { against: baseline[0]!.arm, ...shareGain(success), n, users, wins, losses } }),
    ...(gold && { goldDifference: { delta: gold.delta, ...gold.interval, n: golds.length, users: countUsers(golds) } }),
  };
}
