import { randomModelPrefix } from '../../config/bench-config.ts';
import type { Observed } from '../../store/records/observed.ts';
import type { Scores } from '../../store/records/turn-record.ts';

/** The reason why a model's answers have no quality to measure; null if they have. */
export function unknownQuality(model: { readonly name: string }): string | null {
  return model.name.startsWith(randomModelPrefix) ? 'random weights' : null;
}

/** The parts of a turn that judge its answer. */
interface JudgedTurn {
  readonly scores: Scores;
  readonly observed: Omit<Observed, 'goldTokens' | 'nextTokens'> & {
    readonly goldTokens: Pick<Observed['goldTokens'], 'length'>;
  };
}

/** Clears everything that judges the answer of a turn; what it retrieved, kept and cost stays. */
export function withoutQuality<Turn extends JudgedTurn>(turn: Turn): Turn {
  const { scores, observed } = turn;
  return {
    ...turn,
    scores: {
      ...scores,
      exactMatch: null,
      contains: null,
      tokenF1: null,
      locomoF1: null,
      memoryRecall: null,
      rougeL: null,
      bleu: null,
      abstention: null,
      taskSuccess: null,
      ...(scores.own === undefined
        ? {}
        : { own: Object.fromEntries(Object.keys(scores.own).map((name) => [name, null])) }),
      wrongClass: null,
      failedStage: scores.failedStage === 'answered' ? null : scores.failedStage,
      passedStages: scores.passedStages.filter((stage) => stage !== 'answered'),
    },
    observed: {
      ...observed,
      goldLogProbability: null,
      goldTokens: [],
      freeLogProbability: null,
      agreement: null,
      goldKl: null,
    },
  };
}
