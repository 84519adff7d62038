import { type FunnelStage, funnelStages } from '../../store/records/scores.ts';
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

/** Remarks why there is no funnel, or why every stage is passed; undefined if the item needs memories. */
export function funnelNote(turn: Pick<AnsweredTurn, 'item' | 'scores'>): string | undefined {
  const { gold, evidence } = turn.item;
  if (gold === null) return 'No evidence: abstaining is right.';
  if (funnelOf(turn) === undefined) return 'The data do not name the evidence of this item.';
  return evidence === 0 ? 'No memory is needed: the conversation holds the answer.' : undefined;
}

/** The evidence funnel of a turn; undefined if abstaining is right, and where the evidence is unknown. */
export function funnelOf({ scores }: Pick<AnsweredTurn, 'scores'>): FunnelStep[] | undefined {
  const { passedStages, failedStage } = scores;
  if (passedStages.length === 0 && failedStage === null) return undefined;
  return funnelStages.map((stage) => ({
    stage,
    words: words[stage],
    state: passedStages.includes(stage) ? 'passed' : stage === failedStage ? 'failed' : 'unknown',
  }));
}
