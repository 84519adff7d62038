import type { ParitySelfTest } from '../../../store/records/run-probes.ts';
import { type Check, decided, examples, undecided } from './check.ts';

/** The self-test in words; a device that does not repeat itself can prove no bits. */
export function selfTestText({ prompts, cuts, bitwiseEqual, largestDifference, repeated }: ParitySelfTest): string {
  const test = `self-test: ${prompts} prompts × ${cuts} cuts`;
  if (bitwiseEqual) return `${test} bitwise equal`;
  const differing = `${test} not bitwise equal, up to ${largestDifference.toExponential(2)} in ln p`;
  if (repeated?.bitwiseEqual !== false) return differing;
  return `${differing}; the same prompt again differs by up to ${repeated.largestDifference.toExponential(2)}: this device computes otherwise from run to run`;
}

/** Noise is below this part of what a planted fault of one position does, or nothing is called parity. */
const NOISE_SHARE = 0.1;

/**
 * Numerical parity: exact arms give the probabilities of the same prompt evaluated as text, bitwise where the start-up
 * self-test was bitwise equal, else within twice the largest difference that it saw.
 */
export const numericalParity: Check = ({ arms, answered, probes }) => {
  const exact = new Set(arms.filter((arm) => arm.equivalence === 'bitwise').map((arm) => arm.name));
  const compared = answered.filter((turn) => exact.has(turn.arm) && turn.observed.parity !== null);
  if (compared.length === 0) return undecided('numerical parity', 'no exact arm ran');
  const { bitwiseEqual, largestDifference } = probes.parity;
  const bound = 2 * largestDifference;
  const wrong = compared.filter(({ observed }) =>
    bitwiseEqual ? !observed.parity!.bitwiseEqual : observed.parity!.largestDifference > bound,
  );
  const rule = bitwiseEqual ? 'bitwise' : `within ${bound.toExponential(2)} in ln p`;
  const selfTest = selfTestText(probes.parity);
  const { cells } = probes;
  if (cells !== undefined && 'planted' in cells && largestDifference >= NOISE_SHARE * cells.planted) {
    const planted = `${cells.planted.toExponential(2)} in ln p`;
    const reason = `keys rotated by one position too many change the probabilities by ${planted}: noise hides that (${selfTest})`;
    return undecided('numerical parity', reason);
  }
  return wrong.length === 0
    ? decided(
        'numerical parity',
        true,
        `next token and gold ${rule} equal to text on ${compared.length} turns (${selfTest})`,
      )
    : decided(
        'numerical parity',
        false,
        `${wrong.length} of ${compared.length} turns are not ${rule} equal to text: ${examples(wrong)} (${selfTest})`,
      );
};
