import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { ArmResults, BreakdownPart, RetrievalKind } from '../../../store/records/results.ts';
import { funnelStages, wrongClasses } from '../../../store/records/scores.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { type Lookup, readerOf } from '../statistics/column.ts';
import { countOf, groupedBy } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { cacheOf } from '../turn-measures.ts';
import { cacheStates } from '../../../store/records/turn-account.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { costByRetrieval, costOf } from './arm-cost.ts';
import type { DesignEffects } from './design-effects.ts';
import { fidelityTo, successDifference } from './fidelity.ts';
import type { Regime } from './regime.ts';
import { estimateOf, latencyOf, qualityOf, tokenMeans } from './turn-means.ts';

/** Metrics of the parts by language, beside those of all parts. */
const BY_LANGUAGE = ['tokenF1', 'memoryRecall', 'abstention'];

/** Properties of items by which turns are parted. */
const PARTS = {
  userKind: { of: ({ item }: AnsweredResult) => item.userKind },
  category: { of: ({ item }: AnsweredResult) => item.category },
  phrasing: { of: ({ item }: AnsweredResult) => item.phrasing },
  language: { of: ({ item }: AnsweredResult) => item.language },
};

/** @param baseline turns of the arm that categories are compared with; none of that arm itself */
function breakdown(
  turns: readonly AnsweredResult[],
  baseline: readonly AnsweredResult[],
  { all, primary }: RunMetrics,
  effects: DesignEffects,
): BreakdownPart[] {
  return (['userKind', 'category', 'phrasing', 'language'] as const).flatMap((field) => {
    const groups = [...groupedBy(turns, PARTS[field])].filter(([value]) => value !== '');
    const names = ['exactMatch', primary.name, 'taskSuccess', ...(field === 'language' ? BY_LANGUAGE : [])];
    const shown = [...new Set(names)].flatMap((name) => all.find((metric) => metric.name === name) ?? []);
    return groups
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([value, some]) => {
        const metrics = Object.fromEntries(shown.map((metric) => [metric.name, estimateOf(metric, some, effects)]));
        const difference = field === 'category' ? successDifference(baseline, some) : undefined;
        return {
          ...{ field, value, n: some.length, metrics: metrics as BreakdownPart['metrics'] },
          ...(difference === undefined ? {} : { difference }),
        };
      });
  });
}

const AHEAD = turnField('account', 'ahead');
const KEPT_MEMORIES = turnField('facts', 'keptMemories');
const WRONG_CLASS = turnField('scores', 'wrongClass');
const PASSED_STAGES = turnField('scores', 'passedStages');

/** The number of turns of each name, of those that a lookup gives them. */
function counts<Name extends string>(
  names: readonly Name[],
  turns: readonly AnsweredResult[],
  lookup: Lookup<AnsweredResult, Name | readonly Name[] | null>,
): Record<Name, number> {
  const found = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  const given = readerOf(turns, lookup);
  for (let place = 0; place < turns.length; place++) {
    const some = given(place);
    if (typeof some === 'string') found[some]++;
    else if (some !== null) for (const name of some) found[name]++;
  }
  return found;
}

function aheadOf(turns: readonly AnsweredResult[]): Pick<ArmResults, 'ahead'> {
  const ahead = readerOf(turns, AHEAD);
  const works = turns.flatMap((_, place) => ahead(place) ?? []);
  if (works.length === 0) return {};
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / turns.length;
  return { ahead: { tokens: mean(works.map(({ tokens }) => tokens)), ms: mean(works.map(({ ms }) => ms)) } };
}

/** Settings that all arms of a run share. */
interface ResultsSettings {
  /** Turns of the arm that the others are compared with; none where it did not run. */
  readonly baseline: readonly AnsweredResult[];
  readonly metrics: RunMetrics;
  readonly regime: Regime;
  /** Pooled over the arms of the run. */
  readonly effects: DesignEffects;
  /** By user. */
  readonly kinds: ReadonlyMap<string, RetrievalKind>;
  /** The scores of the turns say something; if not, they are null and nothing is counted. */
  readonly judged: boolean;
}

/** The results of one arm; its cost columns are over the cache hits of the primary arm, the same items for every arm. */
export function armResults(
  arm: ArmTraits,
  answered: readonly AnsweredResult[],
  errors: number,
  { baseline, metrics, regime, effects, kinds, judged }: ResultsSettings,
): ArmResults {
  const others = arm.comparison === 'baseline' || !judged ? [] : baseline;
  const fidelity = fidelityTo(others, answered);
  const hits = regime.hits(answered);
  const misses = regime.misses(answered);
  const injects = arm.injects !== 'nothing';
  const turns = injects
    ? counts(cacheStates, answered, cacheOf)
    : {
        hit: hits.length,
        miss: misses.length,
        bypass: countOf(answered, KEPT_MEMORIES, (kept) => kept === 0),
      };
  const injected = turns.hit + turns.miss;
  const funnel = counts(funnelStages, answered, PASSED_STAGES);
  return {
    arm: arm.name,
    traits: arm,
    n: answered.length,
    errors,
    metrics: {
      ...qualityOf(answered, metrics, effects),
      ttftMs: latencyOf(hits, 'firstToken'),
      totalMs: latencyOf(hits, 'total'),
    },
    breakdown: breakdown(answered, others, metrics, effects),
    ...(fidelity === undefined ? {} : { fidelity }),
    tokens: hits.length === 0 ? null : tokenMeans(hits),
    turns,
    costHit: costOf(hits),
    costMiss: costOf(misses),
    costAll: costOf(answered),
    ...costByRetrieval(answered, regime, kinds),
    ...aheadOf(answered),
    hitRate: !injects || injected === 0 ? null : turns.hit / injected,
    wrong: judged ? counts(wrongClasses, answered, WRONG_CLASS) : null,
    funnel: judged ? funnel : { ...funnel, answered: null },
  };
}
