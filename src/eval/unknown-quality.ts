import { randomModelPrefix } from '../config/bench-config.ts';
import type { AnsweredTurn } from './stored-turn.ts';

/** Why no number may be given for the quality of a model's answers; null where one may. */
export function unknownQuality(model: { readonly name: string }): string | null {
  return model.name.startsWith(randomModelPrefix) ? 'random weights' : null;
}

/** A turn without all that judges its answer; what it recalled, kept and cost stays. */
export function withoutQuality(turn: AnsweredTurn): AnsweredTurn {
  return {
    ...turn,
    scores: {
      ...turn.scores,
      exactMatch: null,
      tokenF1: null,
      memoryRecall: null,
      rougeL: null,
      bleu: null,
      abstention: null,
      taskSuccess: null,
      wrongClass: null,
      failedStage: turn.scores.failedStage === 'answered' ? null : turn.scores.failedStage,
      passedStages: turn.scores.passedStages.filter((stage) => stage !== 'answered'),
    },
    evidence: { ...turn.evidence, goldLogProbability: null, freeLogProbability: null, agreement: null },
  };
}
