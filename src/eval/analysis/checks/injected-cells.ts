import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type CellsSelfTest, differsFromText, type ParitySelfTest } from '../../../store/records/run-probes.ts';
import { type Check, fail, pass, sampledShare, undecided } from './check.ts';

/** The engine's key rotation may differ from plain arithmetic by this share of the largest key. */
export const SHIFT_BOUND = 2 ** -7;
/** Noise from which on wrong cells may stay unseen, as a share of the largest number; twice the noise is allowed. */
const MOST_NOISE = { firstKeys: 0.05, deeper: 0.5 };

/**
 * Cells: in a seeded sample of injecting turns, and in the first user's first hit and miss with each arm, the KV cache
 * has the cells that separate code computes. This needs a passed self-test: one joined block equals the text, and keys
 * rotate alike.
 */
export const cells: Check = ({ arms, answered, probes }) => {
  const injecting = arms.filter(({ injects }) => injects !== 'nothing').map(({ name }) => name);
  if (injecting.length === 0) return undecided('no arm injects a KV cache');
  const { cells: selfTest } = probes;
  if (selfTest === undefined) return undecided('the cells of this model were not self-tested');
  if ('missing' in selfTest) return undecided(`the engine's cells cannot be read: ${selfTest.missing}`);
  const unsound = unsoundness(selfTest, probes.parity);
  if (unsound !== null) return fail(unsound);
  const compared = answered.filter(({ observed }) => observed.wrongCells !== undefined);
  const wrong = compared.filter(({ observed }) => observed.wrongCells !== null);
  if (wrong.length > 0) {
    const { arm, itemId, observed } = wrong[0]!;
    const first = `${arm} on ${itemId}: ${observed.wrongCells}`;
    return fail(`${wrong.length} of ${compared.length} turns have wrong cells: ${first}`);
  }
  const { firstKeys, deeper } = selfTest.noise;
  if (firstKeys >= MOST_NOISE.firstKeys || deeper >= MOST_NOISE.deeper) {
    const noise = `${firstKeys.toExponential(1)} of the largest key in layer 0, and by ${deeper.toExponential(1)} behind it`;
    return undecided(`a prefix evaluated in two pieces differs by ${noise}: that would hide wrong cells`);
  }
  const injected = new Set(answered.flatMap(({ arm, observed }) => (observed.injectableMemories > 0 ? [arm] : [])));
  const proven = new Set(compared.map(({ arm }) => arm));
  const unproven = injecting.filter((arm) => injected.has(arm) && !proven.has(arm));
  if (unproven.length > 0) return undecided(whyUnproven(arms, unproven));
  if (compared.length === 0) return undecided('no turn injected anything');
  const evidence = `${compared.length} turns of ${injecting.join(', ')} have the cells of a fresh evaluation`;
  const fewest = Math.min(...[...Map.groupBy(compared, ({ arm }) => arm).values()].map(({ length }) => length));
  const detects = `wrong cells in ${sampledShare(fewest)} of an arm's turns, with 95 % certainty`;
  return pass(`${evidence} (self-test: ${selfTestText(selfTest)})`, detects);
};

function whyUnproven(arms: readonly ArmTraits[], unproven: readonly string[]): string {
  const external = unproven.filter((name) => arms.find((arm) => arm.name === name)?.external === true);
  const others = unproven.filter((name) => !external.includes(name));
  const reason = (names: readonly string[], why: string): string[] =>
    names.length === 0 ? [] : [`the cells of ${names.join(', ')} were not compared: ${why}`];
  return [
    ...reason(
      external,
      'they were made elsewhere; their shape, numbers, positions and model are verified at each load',
    ),
    ...reason(others, 'the traits of the arm do not say how its KV cache is made'),
  ].join('; ');
}

type Tested = Exclude<CellsSelfTest, { readonly missing: string }>;

/** Why comparing cells proves nothing for this model; null if it proves something. */
function unsoundness({ oneBlock, shift }: Tested, parity: ParitySelfTest): string | null {
  if (oneBlock !== null && differsFromText(oneBlock, parity)) return `self-test: ${oneBlockText(oneBlock)}`;
  if (shift !== null && !(shift <= SHIFT_BOUND)) {
    return `self-test: the engine's keys differ from RoPE as described by ${shift.toExponential(1)} of the largest key`;
  }
  return null;
}

function selfTestText({ oneBlock, recomputed, shift }: Tested): string {
  return [
    oneBlockText(oneBlock),
    `with all tokens recomputed, cells differ from the text's by ${recomputed.toExponential(1)}`,
    shift === null
      ? 'the engine shifts no positions'
      : `keys that it shifts differ from ours by ${shift.toExponential(1)}`,
  ].join(', ');
}

function oneBlockText(oneBlock: Tested['oneBlock']): string {
  if (oneBlock === null)
    return 'one joined block is not compared: the text has other bits if it is evaluated in two parts';
  if (oneBlock.bitwiseEqual) return 'one joined block has the bits of the text';
  return `one joined block differs from the text by ${oneBlock.largestDifference.toExponential(2)} in ln p`;
}
