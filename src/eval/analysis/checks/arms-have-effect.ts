import type { ArmSettings, ArmTraits } from '../../../store/records/arm-traits.ts';
import { parityBound } from '../../../store/records/run-probes.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { type Check, fail, pass, undecided } from './check.ts';

/** Effect: each arm and setting changes an outcome against the most similar arm; undecided if the data forbid it. */
export const effect: Check = ({ arms, answered, probes }) => {
  const turns = new Map(arms.map(({ name }) => [name, turnsOfArm(answered, name)]));
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  if (baseline === undefined || turns.get(baseline.name)!.length === 0) {
    return undecided('the baseline, which the others are compared with, did not run');
  }
  const floor = parityBound(probes.parity);
  const compared = arms.filter((arm) => arm !== baseline && arm.control !== 'twin');
  // Arms that must differ on at least one item if the data allow it.
  const variations = compared.flatMap((arm) => {
    const own = turns.get(arm.name)!;
    const nearest = nearestArm(arm, arms, baseline);
    const rivals = own.some(selectsSome) ? rivalArms(arm, compared) : [];
    return [
      { arm, nearest, canDiffer: canDiffer(arm, nearest, own, turns.get(nearest.name)!) },
      ...rivals.map((rival) => ({ arm, nearest: rival, canDiffer: true })),
    ];
  });
  if (variations.length === 0) return undecided('no arm ran that could be compared with the baseline');
  const differs = ({ arm, nearest }: (typeof variations)[number]): boolean => {
    const counterpart = counterpartIn(turns.get(nearest.name)!);
    const makingDiffers = arm.base === nearest.base && !makesAlike(arm, nearest);
    return turns.get(arm.name)!.some((turn) => {
      const other = counterpart(turn);
      return other !== undefined && changesOutcome(turn, other, floor, makingDiffers);
    });
  };
  // `dki-link:4 (against dki-blocks)`
  const list = (some: typeof variations): string =>
    some.map(({ arm, nearest }) => `${arm.name} (against ${nearest.name})`).join(', ');
  const testable = variations.filter((variation) => variation.canDiffer);
  const dead = testable.filter((variation) => !differs(variation));
  if (dead.length > 0) return fail(`no outcome is changed by ${list(dead)}`);
  const untestable = variations.filter((variation) => !variation.canDiffer);
  const evidence = `${testable.length} arms and settings change an outcome`;
  if (untestable.length === 0) return pass(evidence, `1 arm or setting of ${testable.length} that changes nothing`);
  return undecided(`these data do not test ${list(untestable)}; ${evidence}`);
};

/** True if answers differ, gold likelihoods differ by more than `floor`, or, unless `makingDiffers`, ids or counts. */
function changesOutcome(turn: AnsweredResult, base: AnsweredResult, floor: number, makingDiffers: boolean): boolean {
  if (turn.answer.text !== base.answer.text) return true;
  const [own, other] = [turn.observed.goldLogProbability, base.observed.goldLogProbability];
  if (own !== null && other !== null && Math.abs(own - other) > floor) return true;
  const counts = ({ observed, tokens, facts }: AnsweredResult): string =>
    [observed.sequenceSha256, tokens.evaluated, facts.keptMemories].join();
  return !makingDiffers && counts(turn) !== counts(base);
}

function differingSettings(arm: ArmTraits, other: ArmTraits): (keyof ArmSettings)[] {
  const names = Object.keys({ ...arm.settings, ...other.settings }) as (keyof ArmSettings)[];
  return names.filter((name) => arm.settings[name] !== other.settings[name]);
}

/** True if two arms make and place their blocks in the same way: a setting that names the default changes nothing. */
function makesAlike(arm: ArmTraits, other: ArmTraits): boolean {
  return arm.prefill === other.prefill && JSON.stringify(arm.making) === JSON.stringify(other.making);
}

/** True if the data allow a difference: a cache needs a recurring set, `full` more memories than are retrieved. */
function canDiffer(arm: ArmTraits, nearest: ArmTraits, own: Turns, others: Turns): boolean {
  if (Object.keys(arm.settings).length > 0) return settingCanMatter(arm, nearest, own, others);
  if (arm.evict !== undefined) return mostKept(others) > 0 && evictsSome(arm);
  // An arm with external KV evaluates only what follows the memories.
  if (arm.external === true) return mostKept(own) > 0;
  // A share of 0 recomputes nothing.
  if (nearest.prefill === 'blocks') return mostKept(others) > 1 && arm.prefill?.endsWith(':0') !== true;
  const counterpart = counterpartIn(others);
  const kept = (turn: AnsweredResult): number | undefined => counterpart(turn)?.facts.keptMemories;
  // A memory that is too long for the prompt makes no difference.
  const fitting = (given: number, { facts }: AnsweredResult): number => given - facts.droppedMemories;
  if (arm.retrieves === 'all') return own.some((turn) => fitting(turn.item.memories, turn) > (kept(turn) ?? 0));
  if (arm.retrieves === 'evidence') return own.some((turn) => fitting(turn.item.evidence, turn) !== kept(turn));
  return arm.retrieves === 'retrieved' ? recurs(others) : mostKept(others) > 0;
}

/** True if a setting can matter on these data: labels need a memory, placement two, a budget something to drop. */
function settingCanMatter(arm: ArmTraits, nearest: ArmTraits, own: Turns, others: Turns): boolean {
  const counterpart = counterpartIn(others);
  const ordersDiffer = own.some((turn) => {
    const other = counterpart(turn);
    return other !== undefined && other.facts.memoryIds.join() !== turn.facts.memoryIds.join();
  });
  const most = mostKept(others);
  const makingDiffers = !makesAlike(arm, nearest);
  const canMatter: Readonly<Record<keyof ArmSettings, boolean>> = {
    template: others.length > 0,
    alpha: arm.alpha !== nearest.alpha && most > 0,
    labels: most > 0,
    placement: most > 1,
    // Whether the order is the arm's is up to check `same memories`.
    order: ordersDiffer,
    budget: others.some((turn) => turn.facts.droppedMemories > 0),
    answerPrefix: false,
    store: (arm.settings.store ?? 'f16') !== (nearest.settings.store ?? 'f16') && most > 0,
    // The first memory has none before it, and a single block is not moved.
    context: makingDiffers && most > (arm.settings.context === 'none' ? 0 : 1),
    sink: makingDiffers && most > 0,
    positions: makingDiffers && most > 1,
    temperature: makingDiffers && most > 0,
    run: makingDiffers && most > 1,
    repair: most > 0 && evictsSome(arm),
    // Changes when KV is computed, not the cells.
    built: false,
    share: false,
  };
  return differingSettings(arm, nearest).some((name) => canMatter[name]);
}

function evictsSome({ evict = 'random:0' }: ArmTraits): boolean {
  return !evict.endsWith(':0');
}

function mostKept(turns: Turns): number {
  return turns.reduce((most, { facts }) => Math.max(most, facts.keptMemories), 0);
}

/** True if a user is shown the same memories twice in one repeat, so that a cached prefix could be used again. */
function recurs(turns: Turns): boolean {
  const sets = turns
    .filter(({ facts }) => facts.memoryIds.length > 0)
    .map(({ userId, repeat, facts }) => JSON.stringify([userId, repeat, ...facts.memoryIds]));
  return new Set(sets).size < sets.length;
}

/** The most similar arm: for settings, the arm with one fewer; for variants of KV, the plain one; else the baseline. */
function nearestArm(arm: ArmTraits, arms: readonly ArmTraits[], baseline: ArmTraits): ArmTraits {
  if (arm.base !== arm.name) {
    const sameBase = arms.filter((other) => other !== arm && other.base === arm.base);
    const count = ({ settings }: ArmTraits): number => Object.keys(settings).length;
    const lacksOne = (other: ArmTraits) => differingSettings(arm, other).length === 1 && count(other) < count(arm);
    return sameBase.find(lacksOne) ?? sameBase.find(({ name }) => name === arm.base) ?? sameBase[0] ?? baseline;
  }
  const isVariety = arm.prefill !== undefined && arm.prefill !== 'prefix' && arm.prefill !== 'blocks';
  if (!isVariety && arm.evict === undefined) return baseline;
  const whole = arm.evict !== undefined && arm.prefill === 'prefix' ? 'prefix' : 'blocks';
  const isPlain = ({ prefill, evict, settings, keepsSession }: ArmTraits): boolean =>
    prefill === whole && evict === undefined && Object.keys(settings).length === 0 && !keepsSession;
  const gives = (other: ArmTraits): boolean => other.retrieves === arm.retrieves && other.injects === arm.injects;
  return arms.find((other) => isPlain(other) && gives(other)) ?? baseline;
}

/** For an arm that selects random tokens, the arms that select as many by a rule. */
function rivalArms(arm: ArmTraits, arms: readonly ArmTraits[]): ArmTraits[] {
  const selection = ({ prefill, evict }: ArmTraits) => /^(.+):([.\d]+)$/.exec(evict ?? prefill ?? '')?.slice(1) ?? [];
  const [ownRule, ownShare] = selection(arm);
  if (ownRule !== 'random' || arm.base !== arm.name) return [];
  return arms.filter((other) => {
    const [rule = 'random', share] = selection(other);
    const isRule = rule !== 'random' && rule !== 'link' && share === ownShare && other.base === other.name;
    const dropsAlike = arm.evict === undefined ? other.evict === undefined : other.evict !== undefined;
    return isRule && dropsAlike && (arm.evict === undefined || other.prefill === arm.prefill);
  });
}

/** True if the turn selected some of its tokens, not all or none. */
function selectsSome({ account: { selection }, observed }: AnsweredResult): boolean {
  const { injectableTokens, injectableCells = injectableTokens } = observed;
  const isPartial = selection !== undefined && selection.selected > 0 && selection.selected < selection.selectable;
  return isPartial || injectableCells < injectableTokens;
}
