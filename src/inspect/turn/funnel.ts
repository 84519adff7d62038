import type { AnsweredTurn } from '../stored-turn.ts';

/** How far the evidence of an item came. */
export interface FunnelStep {
  readonly stage: string;
  /** `unknown` behind the stage that failed, and where nothing can be said of the answer. */
  readonly state: 'passed' | 'failed' | 'unknown';
  readonly words: string;
}

const words: Readonly<Record<string, string>> = {
  stored: 'stored',
  recalled: 'recalled',
  kept: 'kept',
  sequence: 'in the sequence',
  answered: 'answered',
};

/** Why a funnel says little: stages that are passed freely; undefined where evidence had to pass them. */
export function funnelNote({ scores }: Pick<AnsweredTurn, 'scores'>): string | undefined {
  return scores.item.evidence === 0 ? 'No memory is needed: the conversation holds the answer.' : undefined;
}

/** The funnel of a turn; undefined where there is none: abstaining is right, or the row does not say. */
export function funnelOf({ scores }: Pick<AnsweredTurn, 'scores'>): FunnelStep[] | undefined {
  const { passedStages, failedStage } = scores;
  if (passedStages === undefined || (passedStages.length === 0 && failedStage === null)) return undefined;
  return Object.entries(words).map(([stage, name]) => ({
    stage,
    words: name,
    state: passedStages.includes(stage) ? 'passed' : stage === failedStage ? 'failed' : 'unknown',
  }));
}
