import type { ArmSettings, ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { partnersOf } from '../partners.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import { type Check, decided, undecided } from './check.ts';

/**
 * Another sequence, another number of evaluated or kept tokens and memories, another answer, or a gold answer that is
 * likelier or less likely than noise makes it: not another label. Of blocks that are made in another way the last two alone:
 * a block that is built behind more tokens than it shows it saw would be evaluated, and seen by nobody.
 */
function changesOutcome(turn: AnsweredResult, base: AnsweredResult, floor: number, isMade: boolean): boolean {
  const [own, other] = [turn.observed.goldLogProbability, base.observed.goldLogProbability];
  const changesCount =
    turn.observed.sequenceSha256 !== base.observed.sequenceSha256 ||
    turn.tokens.evaluated !== base.tokens.evaluated ||
    turn.facts.keptMemories !== base.facts.keptMemories;
  return (
    (!isMade && changesCount) ||
    turn.answer.text !== base.answer.text ||
    (own !== null && other !== null && Math.abs(own - other) > floor)
  );
}

/** The settings in which two arms differ. */
function differingSettings(arm: ArmTraits, other: ArmTraits): (keyof ArmSettings)[] {
  const names = Object.keys({ ...arm.settings, ...other.settings }) as (keyof ArmSettings)[];
  return names.filter((name) => arm.settings[name] !== other.settings[name]);
}

/** True where two arms make and place their blocks in one way: a setting that names the default changes nothing. */
function makesAlike(arm: ArmTraits, other: ArmTraits): boolean {
  return arm.prefill === other.prefill && JSON.stringify(arm.making) === JSON.stringify(other.making);
}

/** True where these data let a setting matter: labels need a memory, their order two, a budget something to drop. */
function settingCouldMatter(arm: ArmTraits, nearest: ArmTraits, others: readonly AnsweredResult[]): boolean {
  const most = mostKept(others);
  const could: Readonly<Record<keyof ArmSettings, () => boolean>> = {
    template: () => others.length > 0,
    alpha: () => arm.alpha !== nearest.alpha && most > 0,
    labels: () => most > 0,
    placement: () => most > 1,
    budget: () => others.some((turn) => turn.facts.droppedMemories > 0),
    answerPrefix: () => false,
    store: () => (arm.settings.store ?? 'f16') !== (nearest.settings.store ?? 'f16') && most > 0,
    // Of two memories the first has no other before it, and one block stands where it stands.
    context: () => !makesAlike(arm, nearest) && most > (arm.settings.context === 'none' ? 0 : 1),
    sink: () => !makesAlike(arm, nearest) && most > 0,
    positions: () => !makesAlike(arm, nearest) && most > 1,
    temperature: () => !makesAlike(arm, nearest) && most > 0,
    run: () => !makesAlike(arm, nearest) && most > 1,
    // The same cells, at another moment.
    built: () => false,
  };
  return differingSettings(arm, nearest).some((name) => could[name]());
}

/** True where these data let an arm differ: a cache needs a set that recurs, all memories more than are retrieved. */
function couldDiffer(
  { arm, nearest }: Pick<Varied, 'arm' | 'nearest'>,
  own: readonly AnsweredResult[],
  others: readonly AnsweredResult[],
): boolean {
  if (Object.keys(arm.settings).length > 0) return settingCouldMatter(arm, nearest, others);
  if (arm.evict !== undefined) return mostKept(others) > 0 && !arm.evict.endsWith(':0');
  // Of nothing that is recomputed nothing changes.
  if (nearest.prefill === 'blocks') return mostKept(others) > 1 && arm.prefill?.endsWith(':0') !== true;
  const beside = partnersOf(own, others);
  const kept = (place: number): number | undefined => beside.at(place)?.facts.keptMemories;
  switch (arm.retrieves) {
    case 'all':
      return own.some((turn, place) => turn.item.memories > (kept(place) ?? 0));
    case 'evidence':
      return own.some((turn, place) => turn.item.evidence !== kept(place));
    case 'nothing':
    case 'donor':
      return others.some((turn) => turn.facts.keptMemories > 0);
    case 'retrieved':
      return recurs(others);
  }
}

function mostKept(turns: readonly AnsweredResult[]): number {
  return turns.reduce((most, { facts }) => Math.max(most, facts.keptMemories), 0);
}

/** A user is shown the same memories twice in one repeat, so that something kept could be used again. */
function recurs(turns: readonly AnsweredResult[]): boolean {
  const sets = new Set<string>();
  return turns.some(({ userId, repeat, facts }) => {
    const set = JSON.stringify([userId, repeat, ...facts.memoryIds]);
    if (facts.memoryIds.length === 0 || !sets.has(set)) {
      sets.add(set);
      return false;
    }
    return true;
  });
}

/**
 * The arm that an arm must differ from: without settings the prefix or the joined blocks of which it is a variety, else the
 * baseline; with settings the same arm with all of them but one, else without any, else with others, else the baseline.
 */
function nearestArm(arm: ArmTraits, arms: readonly ArmTraits[], baseline: ArmTraits): ArmTraits {
  const isPlain = ({ evict, settings, retrieves, injects, keepsSession }: ArmTraits): boolean =>
    evict === undefined &&
    Object.keys(settings).length === 0 &&
    retrieves === arm.retrieves &&
    injects === arm.injects &&
    !keepsSession;
  const isVariety = arm.prefill !== undefined && arm.prefill !== 'prefix' && arm.prefill !== 'blocks';
  const whole = arm.evict !== undefined && arm.prefill === 'prefix' ? 'prefix' : 'blocks';
  const plain = arms.find((other) => other.prefill === whole && isPlain(other));
  if (arm.base === arm.name) return (isVariety || arm.evict !== undefined ? plain : undefined) ?? baseline;
  const sameBase = arms.filter((other) => other !== arm && other.base === arm.base);
  return (
    sameBase.find((other) => lacksOne(arm, other)) ??
    sameBase.find(({ name }) => name === arm.base) ??
    sameBase[0] ??
    baseline
  );
}

/** True for an arm that has all settings of another but one, and no more. */
function lacksOne(arm: ArmTraits, other: ArmTraits): boolean {
  return (
    differingSettings(arm, other).length === 1 && Object.keys(other.settings).length < Object.keys(arm.settings).length
  );
}

/** A rule and a share, as recipes of recomputed tokens name them. */
const SHARED = /^(?<rule>.+):(?<share>[.\d]+)$/;

/**
 * The arms that select as many tokens by another rule than one that draws them at random: with the same cells one of the two
 * rules would be read by nobody.
 */
function rivalsOf(arm: ArmTraits, arms: readonly ArmTraits[]): ArmTraits[] {
  const named = ({ prefill, evict }: ArmTraits): string => evict ?? prefill ?? '';
  const own = SHARED.exec(named(arm))?.groups;
  if (own?.['rule'] !== 'random' || arm.base !== arm.name) return [];
  return arms.filter((other) => {
    if ((other.evict === undefined) !== (arm.evict === undefined)) return false;
    if (arm.evict !== undefined && other.prefill !== arm.prefill) return false;
    const theirs = SHARED.exec(named(other))?.groups;
    const isOther = theirs !== undefined && theirs['rule'] !== 'random' && theirs['rule'] !== 'link';
    return isOther && theirs['share'] === own['share'] && other.base === other.name;
  });
}

/** Some tokens were selected, and not all that could be; or some were dropped. */
function leftChoice({ account: { selection }, observed }: AnsweredResult): boolean {
  const { injectableTokens, injectableCells = injectableTokens } = observed;
  const isSelected = selection !== undefined && selection.selected > 0 && selection.selected < selection.selectable;
  return isSelected || injectableCells < injectableTokens;
}

interface Varied {
  readonly arm: ArmTraits;
  readonly nearest: ArmTraits;
  /** The data let it differ. */
  readonly could: boolean;
  /** It differs on one item at least. */
  readonly does: boolean;
}

/**
 * Effect: every arm and setting changes an outcome of at least one item against the arm that is nearest to it, and random
 * tokens one against those that another rule selects at the same share. One that these data do not let differ is undecided.
 */
export const effect: Check = ({ arms, answered, probes }) => {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  if (baseline === undefined || turnsOfArm(answered, baseline.name).length === 0) {
    return undecided('effect', 'the baseline, which the others are compared with, did not run');
  }
  const floor = 2 * probes.parity.largestDifference;
  const compared = arms.filter((arm) => arm !== baseline && arm.control !== 'twin');
  const varied = compared.flatMap((arm): Varied[] => {
    const own = turnsOfArm(answered, arm.name);
    const differs = (from: ArmTraits): boolean => {
      const others = partnersOf(own, turnsOfArm(answered, from.name));
      const isMade = arm.base === from.base && !makesAlike(arm, from);
      return own.some((turn, place) => {
        const other = others.at(place);
        return other !== undefined && changesOutcome(turn, other, floor, isMade);
      });
    };
    const nearest = nearestArm(arm, arms, baseline);
    const could = couldDiffer({ arm, nearest }, own, turnsOfArm(answered, nearest.name));
    const rivals = rivalsOf(arm, compared);
    const tried = rivals.length > 0 && own.some(leftChoice) ? rivals : [];
    return [
      { arm, nearest, could, does: differs(nearest) },
      ...tried.map((rival) => ({ arm, nearest: rival, could: true, does: differs(rival) })),
    ];
  });
  const dead = varied.filter(({ could, does }) => could && !does);
  if (dead.length > 0) return decided('effect', false, `no outcome is changed by ${named(dead)}`);
  const live = varied.filter(({ could }) => could);
  const unbound = varied.filter(({ could }) => !could);
  const evidence = `${live.length} arms and settings change an outcome`;
  if (unbound.length === 0 && live.length > 0) return decided('effect', true, evidence);
  return undecided('effect', `nothing in these data lets ${named(unbound)} differ; ${evidence}`);
};

/** `dki-link:4 (against dki-blocks)` */
function named(varied: readonly Varied[]): string {
  return varied.map(({ arm, nearest }) => `${arm.name} (against ${nearest.name})`).join(', ');
}
