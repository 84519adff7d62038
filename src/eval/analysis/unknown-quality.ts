import { fieldsOf } from '../../base/fields-of.ts';
import { randomModelPrefix } from '../../config/bench-config.ts';
import type { Observed } from '../../store/records/observed.ts';
import type { Scores } from '../../store/records/scores.ts';

/** The reason why no number may be given for the quality of a model's answers; null where one may. */
export function unknownQuality(model: { readonly name: string }): string | null {
  return model.name.startsWith(randomModelPrefix) ? 'random weights' : null;
}

/** A turn as far as its answer is judged. */
interface JudgedTurn {
  readonly scores: Scores;
  readonly observed: Omit<Observed, 'goldTokens' | 'nextTokens'> & {
    readonly goldTokens: Pick<Observed['goldTokens'], 'length'>;
  };
}

/** A turn without all that judges its answer; what it retrieved, kept and cost stays. */
export function withoutQuality<Turn extends JudgedTurn>(turn: Turn): Turn {
  const { scores, observed } = turn;
  return {
    ...fieldsOf(turn),
    scores: {
      ...fieldsOf(scores),
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
      ...fieldsOf(observed),
      goldLogProbability: null,
      goldTokens: [],
      freeLogProbability: null,
      agreement: null,
      goldKl: null,
    },
  };
}
