import type { ArmTraits } from '../../../../store/records/arm-traits.ts';
import type { MethodResults } from '../../../../store/records/results.ts';

type Method = Pick<MethodResults, 'method' | 'kind' | 'budget'>;

/** A rule and its number, as traits name what an arm recomputes or drops: `random:ranked:.3`, `first/16:.3`, `knorm:.5`, `link:4`. */
const RULE_AND_NUMBER = /^(?<rule>.+):(?<number>all|[.\d]+)$/;

function selectionRule({ prefill, evict }: ArmTraits) {
  return RULE_AND_NUMBER.exec(evict ?? prefill ?? '')?.groups as { rule: string; number: string } | undefined;
}

/** The method of an arm by its traits, and the budget that its name gives it. */
export function methodOf(arm: ArmTraits): Method {
  const { store } = arm.settings;
  if (store !== undefined && store !== 'f16') {
    return { method: arm.name.replace(`@store=${store}`, '@store'), kind: 'quantised', budget: store };
  }
  const number = selectionRule(arm)?.number;
  if (number === undefined) {
    return { method: arm.name, kind: arm.making === undefined ? 'reference' : 'made', budget: null };
  }
  const bare = arm.base.replace(new RegExp(`:${number.replace('.', '\\.')}$`), '');
  const method = arm.name.replace(arm.base, bare);
  return { method, kind: arm.evict === undefined ? 'recomputed' : 'evicted', budget: number };
}

/**
 * The arm that draws as many tokens at random: of the same blocks or prefix, by the same settings. Undefined where none ran,
 * for a random one itself, and where nothing is left to choose.
 */
export function controlOf(arm: ArmTraits, arms: readonly ArmTraits[]): ArmTraits | undefined {
  const { rule = 'link', number = 'all' } = selectionRule(arm) ?? {};
  const leavesNothing = ['0', '1', 'all'].includes(number);
  if (leavesNothing || rule.startsWith('random') || rule === 'link') return undefined;
  // Whole blocks are seldom as many tokens as the share allows; they are runs already, of whichever length.
  const isRanked = rule === 'ranked';
  const wanted = `${isRanked ? 'random:ranked' : 'random'}:${number}`;
  const settings = ({ settings: { run, ...others } }: ArmTraits): string =>
    JSON.stringify(isRanked ? others : { ...others, run });
  return arms.find((other) => {
    if (settings(other) !== settings(arm)) return false;
    if (arm.evict !== undefined) return other.evict === wanted && other.prefill === arm.prefill;
    return other.evict === undefined && other.prefill?.replace(/\/\d+/, '') === wanted;
  });
}

/** True where a rule and as many tokens drawn at random are among the arms: a run in which methods are compared. */
export function hasControls(arms: readonly ArmTraits[]): boolean {
  return arms.some((arm) => controlOf(arm, arms) !== undefined);
}
