import { randomModelPrefix } from '../../config/bench-config.ts';
import type { AnsweredResult, Scores } from '../../store/records/turn-record.ts';

/** Why the quality of a model's answers cannot be measured; null if it can. */
export function unknownQuality(model: { readonly name: string }): string | null {
  return model.name.startsWith(randomModelPrefix) ? 'random weights' : null;
}

/** Clears all scores of a turn's answer; its retrieval and costs stay. */
export function clearScores<Turn extends Pick<AnsweredResult, 'scores' | 'observed'>>(turn: Turn): Turn {
  const { scores, observed } = turn;
  return {
    ...turn,
    scores: {
      ...(Object.fromEntries(Object.keys(scores).map((name) => [name, null])) as Record<keyof Scores, null>),
      ...(scores.own && { own: Object.fromEntries(Object.keys(scores.own).map((name) => [name, null])) }),
      failedStage: scores.failedStage === 'answered' ? null : scores.failedStage,
      passedStages: scores.passedStages.filter((stage) => stage !== 'answered'),
      evidenceRank: scores.evidenceRank,
    },
    observed: {
      ...observed,
      goldLogProbability: null,
      goldTokens: [],
      ...(observed.nuggetLogProbabilities && { nuggetLogProbabilities: [] }),
      freeLogProbability: null,
      agreement: null,
      goldKl: null,
    },
  };
}
