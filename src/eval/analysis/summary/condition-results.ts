import type { ConditionResults } from '../../../store/records/results.ts';
import type { FailedTurn } from '../../../store/records/turn-record.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { where } from '../statistics/sublist.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import type { DesignEffects } from './design-effects.ts';
import { latencyOf, phaseMeans, qualityOf, tokenMeans } from './turn-means.ts';

const PLACES = [null, 'early', 'middle', 'late'] as const;

/** The third of the user's memories in which the evidence of an item stands. */
function placeOf({ item }: AnsweredResult): ConditionResults['place'] {
  if (item.evidencePlace === null) return null;
  return PLACES[1 + Math.min(2, Math.floor(item.evidencePlace * 3))]!;
}

function mean(turns: readonly AnsweredResult[], value: (turn: AnsweredResult) => number): number {
  return turns.reduce((sum, turn) => sum + value(turn), 0) / turns.length;
}

function results(
  of: Pick<ConditionResults, 'arm' | 'condition' | 'place' | 'errors'>,
  turns: readonly AnsweredResult[],
  runMetrics: RunMetrics,
  effects: DesignEffects,
): ConditionResults {
  return {
    ...of,
    n: turns.length,
    metrics: { ...qualityOf(turns, runMetrics, effects), ttftMs: latencyOf(turns, 'firstToken') },
    phasesMs: phaseMeans(turns),
    tokens: tokenMeans(turns),
    memories: {
      stored: mean(turns, ({ item }) => item.memories),
      retrieved: mean(turns, ({ facts }) => facts.retrievedMemories),
      kept: mean(turns, ({ facts }) => facts.keptMemories),
      dropped: mean(turns, ({ facts }) => facts.retrievedMemories - facts.keptMemories),
      tokens: mean(turns, ({ facts }) => facts.memoryTokens),
    },
    forced: turns.filter(({ facts }) => facts.forced).length,
  };
}

/**
 * The results of each arm under each condition that the data set names, and there by the place of the evidence, in ascending
 * order of the condition; empty where the data set names none.
 */
export function conditionResults(
  answered: readonly AnsweredResult[],
  failed: readonly FailedTurn[],
  arms: readonly string[],
  runMetrics: RunMetrics,
  effects: DesignEffects,
): ConditionResults[] {
  const conditions = [...new Set(answered.flatMap(({ item }) => item.condition ?? []))].sort((a, b) => a - b);
  if (conditions.length === 0) return [];
  const conditionOf = new Map(answered.map(({ itemId, item }) => [itemId, item.condition]));
  return arms.flatMap((arm) =>
    conditions.flatMap((condition) => {
      const turns = where(turnsOfArm(answered, arm), ({ item }) => item.condition === condition);
      const errors = failed.filter((turn) => turn.arm === arm && conditionOf.get(turn.itemId) === condition).length;
      return PLACES.flatMap((place) => {
        const there = place === null ? turns : where(turns, (turn) => placeOf(turn) === place);
        return there.length === 0 ? [] : [results({ arm, condition, place, errors }, there, runMetrics, effects)];
      });
    }),
  );
}
