import type { AnsweredTurn } from '../stored-turn.ts';

/** Whether an answer is right, and if not, in which way and where the evidence was lost. */
export function judgementOf({ scores, unknownQuality }: Pick<AnsweredTurn, 'scores' | 'unknownQuality'>): string {
  if (unknownQuality !== null) return `not judged: ${unknownQuality}`;
  if (scores.taskSuccess === 1) return 'right';
  const stage = scores.failedStage === null ? '' : `, failed at: ${scores.failedStage}`;
  return `wrong: ${scores.wrongClass ?? 'not classified'}${stage}`;
}
