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

/** Whether these data let an arm differ from `rag` at all: reuse needs a set that recurs, `full` more than is recalled. */
function couldDiffer(name: string, own: readonly AnsweredTurn[], rag: ReadonlyMap<string, AnsweredTurn>): boolean {
  if (name === 'full') return own.some((turn) => turn.item.memories > (rag.get(turnKey(turn))?.keptMemories ?? 0));
  if (name === 'oracle') return own.some((turn) => turn.item.evidence !== rag.get(turnKey(turn))?.keptMemories);
  if (name === 'none' || name === 'dki-wrong') return [...rag.values()].some((turn) => turn.keptMemories > 0);
  return recurs([...rag.values()]);
}

/** A user is shown the same memories twice, so that something kept could be used again. */
function recurs(turns: readonly AnsweredTurn[]): boolean {
  const sets = new Set<string>();
  return turns.some(({ userId, prompt }) => {
    const set = JSON.stringify([userId, ...prompt.memoryIds]);
    if (prompt.memoryIds.length === 0 || !sets.has(set)) {
      sets.add(set);
      return false;
    }
    return true;
  });
}

/** What a suite varies does something: every arm that could differs from `rag` in an outcome of at least one item. */
export const liveFlags: Gate = ({ arms, answered }) => {
  const rag = ragTurns(answered);
  const varied = arms
    .map((arm) => ({ name: arm.name, own: answered.filter((turn) => turn.arm === arm.name) }))
    .filter(({ name, own }) => name !== 'rag' && name !== TWIN && couldDiffer(name, own, rag));
  if (rag.size === 0) return notRun('live flags', 'rag, which the others are compared with, did not run');
  if (varied.length === 0) return notRun('live flags', 'nothing in these data could vary against rag');
  const changes = (turn: AnsweredTurn): boolean => {
    const base = rag.get(turnKey(turn));
    return base !== undefined && changesOutcome(turn, base);
  };
  const dead = varied.filter(({ own }) => !own.some(changes)).map(({ name }) => name);
  return decided(
    'live flags',
    dead.length === 0,
    dead.length === 0
      ? `${varied.length} arms change an outcome of rag`
      : `no outcome of rag is changed by ${dead.join(', ')}`,
  );
};
