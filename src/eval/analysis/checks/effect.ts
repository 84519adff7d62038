import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import { pairKey, turnsByPair } from '../turns-of-run.ts';
import { type Check, decided, undecided } from './check.ts';

type TurnsByPair = ReadonlyMap<string, AnsweredResult>;

/**
 * Another sequence, another number of evaluated or kept tokens and memories, another answer, or a gold answer that is
 * likelier or less likely than noise makes it: not another label.
 */
function changesOutcome(turn: AnsweredResult, base: AnsweredResult, floor: number): boolean {
  const [own, other] = [turn.observed.goldLogProbability, base.observed.goldLogProbability];
  return (
    turn.observed.sequenceSha256 !== base.observed.sequenceSha256 ||
    turn.tokens.evaluated !== base.tokens.evaluated ||
    turn.facts.keptMemories !== base.facts.keptMemories ||
    turn.answer.text !== base.answer.text ||
    (own !== null && other !== null && Math.abs(own - other) > floor)
  );
}

/** True where these data let a setting matter: labels need a memory, their order two. */
function settingCouldMatter({ settings }: ArmTraits, others: readonly AnsweredResult[]): boolean {
  const { alpha, placement, labels, budget, template } = settings;
  if (template !== undefined) return others.length > 0;
  const most = Math.max(0, ...others.map((turn) => turn.facts.keptMemories));
  if (alpha !== undefined || labels !== undefined) return most > 0;
  if (placement !== undefined) return most > 1;
  return budget !== undefined && others.some((turn) => turn.facts.droppedMemories > 0);
}

/** True where these data let an arm differ: a cache needs a set that recurs, all memories more than are retrieved. */
function couldDiffer(arm: ArmTraits, own: readonly AnsweredResult[], base: TurnsByPair): boolean {
  const others = [...base.values()];
  if (Object.keys(arm.settings).length > 0) return settingCouldMatter(arm, others);
  const kept = (turn: AnsweredResult): number | undefined => base.get(pairKey(turn))?.facts.keptMemories;
  switch (arm.retrieves) {
    case 'all':
      return own.some((turn) => turn.item.memories > (kept(turn) ?? 0));
    case 'evidence':
      return own.some((turn) => turn.item.evidence !== kept(turn));
    case 'nothing':
    case 'donor':
      return others.some((turn) => turn.facts.keptMemories > 0);
    case 'retrieved':
      return recurs(others);
  }
}

/** A user is shown the same memories twice, so that something kept could be used again. */
function recurs(turns: readonly AnsweredResult[]): boolean {
  const sets = new Set<string>();
  return turns.some(({ userId, facts }) => {
    const set = JSON.stringify([userId, ...facts.memoryIds]);
    if (facts.memoryIds.length === 0 || !sets.has(set)) {
      sets.add(set);
      return false;
    }
    return true;
  });
}

/**
 * The arm that an arm must differ from: without settings the baseline; with settings the arm without them, else the same
 * arm with other settings, else the baseline.
 */
function nearestArm(arm: ArmTraits, arms: readonly ArmTraits[], baseline: ArmTraits): ArmTraits {
  if (arm.base === arm.name) return baseline;
  return (
    arms.find(({ name }) => name === arm.base) ??
    arms.find((other) => other !== arm && other.base === arm.base) ??
    baseline
  );
}

/** Effect: every arm and setting that could changes an outcome of at least one item. */
export const effect: Check = ({ arms, answered, probes }) => {
  const byArm = new Map(arms.map(({ name }) => [name, turnsByPair(answered, name)]));
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  if (baseline === undefined || byArm.get(baseline.name)!.size === 0) {
    return undecided('effect', 'the baseline, which the others are compared with, did not run');
  }
  const varied = arms
    .filter((arm) => arm !== baseline && arm.control !== 'twin')
    .map((arm) => ({
      arm,
      own: [...byArm.get(arm.name)!.values()],
      base: byArm.get(nearestArm(arm, arms, baseline).name)!,
    }))
    .filter(({ arm, own, base }) => couldDiffer(arm, own, base));
  if (varied.length === 0) return undecided('effect', `nothing in these data could vary against ${baseline.name}`);
  const floor = 2 * probes.parity.largestDifference;
  const dead = varied
    .filter(({ own, base }) => {
      const isChanged = (turn: AnsweredResult): boolean => {
        const other = base.get(pairKey(turn));
        return other !== undefined && changesOutcome(turn, other, floor);
      };
      return !own.some(isChanged);
    })
    .map(({ arm }) => arm.name);
  return decided(
    'effect',
    dead.length === 0,
    dead.length === 0
      ? `${varied.length} arms and settings change an outcome`
      : `no outcome is changed by ${dead.join(', ')}`,
  );
};
