import { parseArmName } from '../../config/arm-name.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { decided, notRun, turnKey, turnsOf, type Gate, type GateInput } from './gate.ts';

/** A twin is there to change nothing. */
const TWIN = 'rag-twin';
const BASE = 'rag';

/**
 * Another sequence, another number of evaluated or kept tokens and memories, another answer, or a gold answer that is
 * likelier or less likely than noise makes it: not another label.
 */
function changesOutcome(turn: AnsweredTurn, base: AnsweredTurn, floor: number): boolean {
  const [own, other] = [turn.evidence.goldLogProbability, base.evidence.goldLogProbability];
  return (
    turn.evidence.sequenceSha256 !== base.evidence.sequenceSha256 ||
    turn.tokens.evaluated !== base.tokens.evaluated ||
    turn.prompt.keptMemories !== base.prompt.keptMemories ||
    turn.answer !== base.answer ||
    (own !== null && other !== null && Math.abs(own - other) > floor)
  );
}

/** Whether these data let an arm differ at all: reuse needs a set that recurs, `full` more than is recalled. */
function couldDiffer(name: string, own: readonly AnsweredTurn[], base: ReadonlyMap<string, AnsweredTurn>): boolean {
  const others = [...base.values()];
  if (name === 'full')
    return own.some((turn) => turn.item.memories > (base.get(turnKey(turn))?.prompt.keptMemories ?? 0));
  if (name === 'oracle') return own.some((turn) => turn.item.evidence !== base.get(turnKey(turn))?.prompt.keptMemories);
  if (name === 'none' || name === 'dki-wrong') return others.some((turn) => turn.prompt.keptMemories > 0);
  const { alpha, placement, labels, budget, template } = parseArmName(name)?.settings ?? {};
  if (template !== undefined) return others.length > 0;
  const most = Math.max(0, ...others.map((turn) => turn.prompt.keptMemories));
  if (alpha !== undefined || labels !== undefined) return most > 0;
  if (placement !== undefined) return most > 1;
  if (budget !== undefined) return others.some((turn) => turn.prompt.droppedMemories > 0);
  return recurs(others);
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

/**
 * What an arm must differ from: a setting from the arm without it, else from the same arm with another setting; every
 * other arm from `rag`.
 */
function baseOf(name: string, arms: GateInput['arms']): string {
  const names = arms.map((arm) => arm.name);
  const [base] = name.split('@');
  if (base === name) return BASE;
  return names.includes(base!)
    ? base!
    : (names.find((other) => other !== name && other.startsWith(`${base}@`)) ?? BASE);
}

/** What a suite varies does something: every arm and setting that could changes an outcome of at least one item. */
export const liveFlags: Gate = ({ arms, answered, probes }) => {
  const byArm = new Map(arms.map(({ name }) => [name, turnsOf(answered, name)]));
  if ((byArm.get(BASE)?.size ?? 0) === 0) {
    return notRun('live flags', 'rag, which the others are compared with, did not run');
  }
  const varied = arms
    .filter(({ name }) => name !== BASE && name !== TWIN)
    .map(({ name }) => ({ name, own: [...byArm.get(name)!.values()], base: byArm.get(baseOf(name, arms))! }))
    .filter(({ name, own, base }) => couldDiffer(name, own, base));
  if (varied.length === 0) return notRun('live flags', 'nothing in these data could vary against rag');
  const floor = 2 * probes.parity.largestDifference;
  const dead = varied
    .filter(({ own, base }) => {
      const isChanged = (turn: AnsweredTurn): boolean => {
        const other = base.get(turnKey(turn));
        return other !== undefined && changesOutcome(turn, other, floor);
      };
      return !own.some(isChanged);
    })
    .map(({ name }) => name);
  return decided(
    'live flags',
    dead.length === 0,
    dead.length === 0
      ? `${varied.length} arms and settings change an outcome`
      : `no outcome is changed by ${dead.join(', ')}`,
  );
};
