import type { TurnOutcome } from '../../store/turn-list-repository.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { cacheNames } from '../turn/kv-and-cost-sections.ts';

/** The outcome of an arm on an item: `mixed` if repeats differ, `answered` if quality is unknown. */
export type Outcome = 'right' | 'wrong' | 'abstained' | 'mixed' | 'error' | 'answered';

/** Marks in the matrix, distinct without colour. */
export const outcomeMarks: Readonly<Record<Outcome, string>> = {
  right: '✓',
  wrong: '✗',
  abstained: '○',
  mixed: '½',
  error: '!',
  answered: '·',
};

function outcomeOfTurn(turn: TurnOutcome, judged: boolean): Outcome {
  if (turn.error !== null) return 'error';
  if (!judged) return 'answered';
  if (turn.abstention === 1 || turn.wrongClass === 'wrong-abstention') return 'abstained';
  return turn.taskSuccess === 1 ? 'right' : 'wrong';
}

/** The outcome of the turns of one arm on one item. @param turns not empty @param judged false if quality is unknown */
export function armOutcome(turns: readonly TurnOutcome[], judged: boolean): Outcome {
  const outcomes = new Set(turns.map((turn) => outcomeOfTurn(turn, judged)));
  const [only] = outcomes;
  return outcomes.size === 1 ? only! : 'mixed';
}

/** True if every turn is right: the right answer, or an abstention if none exists. */
export function isRight(turns: readonly TurnOutcome[]): boolean {
  return turns.every(({ error, taskSuccess }) => error === null && taskSuccess === 1);
}

/** An outcome as text: `wrong: superseded, failed at answered, cache hit`. */
export function outcomeText(turns: readonly TurnOutcome[], judged: boolean): string {
  const outcome = armOutcome(turns, judged);
  const { wrongClass, failedStage, cache, failedChecks } = turns[0]!;
  const rightly = outcome === 'abstained' ? (isRight(turns) ? ', rightly' : ', wrongly') : '';
  const share =
    turns.length === 1 ? '' : `, right in ${turns.filter((turn) => isRight([turn])).length} of ${turns.length}`;
  const parts = [
    `${outcome}${rightly}${share}${!judged || wrongClass === null || outcome === 'abstained' ? '' : `: ${wrongClass}`}`,
    ...(!judged || failedStage === null ? [] : [`failed at ${failedStage}`]),
    ...(cache === null || cache === 'bypass' ? [] : [cacheNames[cache as keyof typeof cacheNames]]),
    ...(failedChecks === null ? [] : [`fails ${failedChecks.replaceAll(',', ', ')}`]),
  ];
  return printable(parts.join(', '));
}
