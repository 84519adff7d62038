import { differsFromText, parityBound, type ParitySelfTest } from '../../../store/records/run-probes.ts';
import { type Check, examples, fail, pass, undecided } from './check.ts';

/** Parity is decided only if noise is below this share of the effect of keys rotated by one position too many. */
const NOISE_SHARE = 0.1;

/** Numerical parity: exact arms have the probabilities of text, bitwise or within twice the noise of the self-test. */
export const numericalParity: Check = ({ arms, answered, probes }) => {
  const exact = new Set(arms.filter((arm) => arm.equivalence === 'bitwise').map((arm) => arm.name));
  const compared = answered.filter((turn) => exact.has(turn.arm) && turn.observed.parity !== null);
  if (compared.length === 0) return undecided('no exact arm ran');
  const { bitwiseEqual, largestDifference } = probes.parity;
  const selfTest = selfTestText(probes.parity);
  const { cells } = probes;
  if (cells !== undefined && 'planted' in cells && largestDifference >= NOISE_SHARE * cells.planted) {
    const planted = `${cells.planted.toExponential(2)} in ln p`;
    const reason = `keys rotated by one position too many change the probabilities by ${planted}: noise would hide that (${selfTest})`;
    return undecided(reason);
  }
  const rule = bitwiseEqual ? 'bitwise' : `within ${parityBound(probes.parity).toExponential(2)} in ln p`;
  const wrong = compared.filter(({ observed }) => differsFromText(observed.parity!, probes.parity));
  if (wrong.length > 0) {
    const evidence = `${wrong.length} of ${compared.length} turns are not ${rule} equal to text: ${examples(wrong)}`;
    return fail(`${evidence} (${selfTest})`);
  }
  const size = bitwiseEqual ? 'a difference of one bit' : `${parityBound(probes.parity).toExponential(1)} in ln p`;
  const evidence = `next token and gold ${rule} equal to text on ${compared.length} turns (${selfTest})`;
  return pass(evidence, `${size} in 1 of ${compared.length} turns`);
};

/** Describes the self-test; a device that does not repeat its own results cannot prove bitwise equality. */
export function selfTestText({ prompts, cuts, bitwiseEqual, largestDifference, repeated }: ParitySelfTest): string {
  const test = `self-test: ${prompts} prompts × ${cuts} cuts`;
  if (bitwiseEqual) return `${test} bitwise equal`;
  const differing = `${test} not bitwise equal, up to ${largestDifference.toExponential(2)} in ln p`;
  if (repeated?.bitwiseEqual !== false) return differing;
  return `${differing}; the same prompt again differs by up to ${repeated.largestDifference.toExponential(2)}: this device is not deterministic`;
}
