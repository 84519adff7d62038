import type { AnsweredTurn } from '../stored-turn.ts';
import { decided, notRun, ragTurns, turnKey, type Gate } from './gate.ts';

/** A twin is there to change nothing. */
const TWIN = 'rag-twin';

/** Another sequence, another number of evaluated or kept tokens and memories, or another answer: not another label. */
function changesOutcome(turn: AnsweredTurn, base: AnsweredTurn): boolean {
  return (
    turn.evidence.sequenceSha256 !== base.evidence.sequenceSha256 ||
    turn.tokens.evaluated !== base.tokens.evaluated ||
    turn.keptMemories !== base.keptMemories ||
    turn.answer !== base.answer
  );
}

/** What a suite varies does something: every arm differs from `rag` in an outcome of at least one item. */
export const liveFlags: Gate = ({ arms, answered }) => {
  const rag = ragTurns(answered);
  const varied = arms.map((arm) => arm.name).filter((name) => name !== 'rag' && name !== TWIN);
  if (rag.size === 0 || varied.length === 0) return notRun('live flags', 'nothing varies against rag');
  const dead = varied.filter(
    (name) =>
      !answered.some((turn) => {
        const base = rag.get(turnKey(turn));
        return turn.arm === name && base !== undefined && changesOutcome(turn, base);
      }),
  );
  return decided(
    'live flags',
    dead.length === 0,
    dead.length === 0
      ? `${varied.length} arms change an outcome of rag`
      : `no outcome of rag is changed by ${dead.join(', ')}`,
  );
};
