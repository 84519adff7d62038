import { turnKey } from '../gates/gate.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** Which turns count as seen and which as new, for every arm alike: by the state of `dki` on the same item. */
export interface Regime {
  readonly isSeen: (turn: AnsweredTurn) => boolean;
  readonly isNew: (turn: AnsweredTurn) => boolean;
}

/** Without `dki` in the run there is no such thing, and every turn counts as seen. */
export function regimeOf(answered: readonly AnsweredTurn[], arms: readonly string[]): Regime {
  if (!arms.includes('dki')) return { isSeen: () => true, isNew: () => false };
  const dki = answered.filter((turn) => turn.arm === 'dki');
  const reuse = new Map(dki.map((turn) => [turnKey(turn), turn.evidence.reuse]));
  return {
    isSeen: (turn) => reuse.get(turnKey(turn)) === 'seen',
    isNew: (turn) => reuse.get(turnKey(turn)) === 'new',
  };
}
