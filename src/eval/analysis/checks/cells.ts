import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import { whereOf } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import { type Check, decided, undecided } from './check.ts';

/** Rotations by the engine and by plain arithmetic differ by less than this part of a key. */
const SHIFT_BOUND = 2 ** -7;

const WRONG_CELLS = turnField('observed', 'wrongCells');

/**
 * Cells: of a seeded sample of the turns that inject, and of each arm's first cache hit and miss of the first user, the cells
 * were read back from the engine, and are those that a fresh evaluation gives, moved and scaled by other code. A self-test of
 * the model shows that one joined block is the text, and that the engine rotates as that code does.
 */
export const cells: Check = ({ arms, answered, probes }) => {
  const injecting = arms.filter(({ injects }) => injects !== 'nothing');
  if (injecting.length === 0) return undecided('cells', 'no arm injects K/V');
  const { cells: selfTest } = probes;
  if (selfTest === undefined) return undecided('cells', 'no self-test of cells was made');
  if ('missing' in selfTest) return undecided('cells', `they cannot be read: ${selfTest.missing}`);
  const unsound = unsoundness(selfTest, probes.parity);
  if (unsound !== null) return decided('cells', false, unsound);
  const proven = whereOf(answered, WRONG_CELLS, (wrong) => wrong !== undefined);
  const wrong = proven.flatMap(({ arm, itemId, observed }) =>
    observed.wrongCells === null ? [] : [`${arm} on ${itemId}: ${observed.wrongCells}`],
  );
  if (wrong.length > 0) {
    const [first] = wrong;
    return decided(
      'cells',
      false,
      `${wrong.length} of ${proven.length} turns have other cells than they must: ${first}`,
    );
  }
  const injected = (arm: string): boolean =>
    turnsOfArm(answered, arm).some(({ observed }) => observed.injectableMemories > 0);
  const unproven = injecting
    .map(({ name }) => name)
    .filter((name) => injected(name) && !proven.some(({ arm }) => arm === name));
  if (unproven.length > 0) {
    return undecided(
      'cells',
      `the cells of ${unproven.join(', ')} were not compared: the arm does not say how its K/V comes about`,
    );
  }
  if (proven.length === 0) return undecided('cells', 'no turn injected anything');
  return decided(
    'cells',
    true,
    `${proven.length} turns of ${injecting.map(({ name }) => name).join(', ')} have the cells of a fresh evaluation` +
      ` (self-test: ${selfTestText(selfTest)})`,
  );
};

type Tested = Exclude<CellsSelfTest, { readonly missing: string }>;

/** The reason why cells of this model prove nothing; null where they do. */
function unsoundness(
  { oneBlock, shift }: Tested,
  { bitwiseEqual, largestDifference }: { readonly bitwiseEqual: boolean; readonly largestDifference: number },
): string | null {
  if (bitwiseEqual ? !oneBlock.bitwiseEqual : oneBlock.largestDifference > 2 * largestDifference) {
    return `self-test: one joined block is not the text, by ${oneBlock.largestDifference.toExponential(2)} in ln p`;
  }
  if (shift !== null && !(shift <= SHIFT_BOUND)) {
    return `self-test: the engine rotates keys otherwise than RoPE as it is described, by ${shift.toExponential(1)} of the largest`;
  }
  return null;
}

function selfTestText({ oneBlock, recomputed, shift }: Tested): string {
  return [
    `one joined block ${oneBlock.bitwiseEqual ? 'has the bits of' : 'equals'} the text`,
    `all tokens recomputed differ from it by ${recomputed.toExponential(1)}`,
    shift === null ? 'the engine shifts no positions' : `the engine's shift from ours by ${shift.toExponential(1)}`,
  ].join(', ');
}
