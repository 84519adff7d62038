import type { ConditionResults } from '../../../store/records/run-results.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type RunTurns, type Turns, turnsOfArm } from '../turns-by-arm.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { type DesignEffects, latency, meanOver, phaseMeans, qualityEstimates, tokenMeans } from './metric-estimates.ts';

const PLACES = [null, 'early', 'middle', 'late'] as const;

/** The third of the user's memories, by creation, that holds the evidence; null without evidence. */
function evidenceThird({ item }: AnsweredResult): ConditionResults['place'] {
  if (item.evidencePlace === null) return null;
  return PLACES[1 + Math.min(2, Math.floor(item.evidencePlace * 3))]!;
}

function measured(turns: Turns, metrics: RunMetrics, effects: DesignEffects) {
  return {
    n: turns.length,
    metrics: { ...qualityEstimates(turns, metrics, effects), ttftMs: latency(turns, 'firstToken') },
    phasesMs: phaseMeans(turns),
    tokens: tokenMeans(turns),
    memories: {
      stored: meanOver(turns, ({ item }) => item.memories),
      retrieved: meanOver(turns, ({ facts }) => facts.retrievedMemories),
      kept: meanOver(turns, ({ facts }) => facts.keptMemories),
      dropped: meanOver(turns, ({ facts }) => facts.retrievedMemories - facts.keptMemories),
      tokens: meanOver(turns, ({ facts }) => facts.memoryTokens),
    },
    forced: turns.filter(({ facts }) => facts.forced).length,
  };
}

/** Results by arm and ascending condition of the data, over all items and by place of the evidence. */
export function conditionResults(
  { answered, failed }: RunTurns,
  arms: readonly string[],
  metrics: RunMetrics,
  effects: DesignEffects,
): ConditionResults[] {
  const conditions = [...new Set(answered.flatMap(({ item }) => item.condition ?? []))].sort((a, b) => a - b);
  const turnOfItem = new Map(answered.map((turn) => [turn.itemId, turn]));
  return arms.flatMap((arm) =>
    conditions.flatMap((condition) => {
      // A failed turn stands as that of another arm on its item.
      const failures = failed.flatMap((turn) => (turn.arm === arm ? (turnOfItem.get(turn.itemId) ?? []) : []));
      return PLACES.flatMap((place) => {
        const isHere = (turn: AnsweredResult): boolean =>
          turn.item.condition === condition && (place === null || place === evidenceThird(turn));
        const some = turnsOfArm(answered, arm).filter(isHere);
        if (some.length === 0) return [];
        const errors = failures.filter(isHere).length;
        return [{ arm, condition, place, errors, ...measured(some, metrics, effects) }];
      });
    }),
  );
}
