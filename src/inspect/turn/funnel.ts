import { type FunnelStage, funnelStages } from '../../records/scores.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** A stage of the evidence funnel in one turn. */
export interface FunnelStep {
  readonly stage: FunnelStage;
  /** `unknown` after the stage that failed, and if the answer is not judged. */
  readonly state: 'passed' | 'failed' | 'unknown';
  readonly words: string;
}

const words: Readonly<Record<FunnelStage, string>> = {
  stored: 'stored',
  retrieved: 'retrieved',
  kept: 'kept',
  sequence: 'in the sequence',
  answered: 'answered',
};

/** Remarks that an item needs no memory, so that every stage is passed; undefined if it needs some. */
export function funnelNote({ item }: Pick<AnsweredTurn, 'item'>): string | undefined {
  return item.evidence === 0 ? 'No memory is needed: the conversation holds the answer.' : undefined;
}

/** The evidence funnel of a turn; undefined if abstaining is right. */
export function funnelOf({ scores }: Pick<AnsweredTurn, 'scores'>): FunnelStep[] | undefined {
  const { passedStages, failedStage } = scores;
  if (passedStages.length === 0 && failedStage === null) return undefined;
  return funnelStages.map((stage) => ({
    stage,
    words: words[stage],
    state: passedStages.includes(stage) ? 'passed' : stage === failedStage ? 'failed' : 'unknown',
  }));
}
