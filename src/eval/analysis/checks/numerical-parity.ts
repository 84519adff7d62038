import { type Check, decided, examples, undecided } from './check.ts';

/**
 * Numerical parity: exact arms give the probabilities of the same prompt evaluated as text, bitwise where the start-up
 * self-test was bitwise equal, else within twice the largest difference that it saw.
 */
export const numericalParity: Check = ({ arms, answered, probes }) => {
  const exact = new Set(arms.filter((arm) => arm.equivalence === 'bitwise').map((arm) => arm.name));
  const compared = answered.filter((turn) => exact.has(turn.arm) && turn.observed.parity !== null);
  if (compared.length === 0) return undecided('numerical parity', 'no exact arm ran');
  const { bitwiseEqual, largestDifference, prompts, cuts } = probes.parity;
  const bound = 2 * largestDifference;
  const wrong = compared.filter(({ observed }) =>
    bitwiseEqual ? !observed.parity!.bitwiseEqual : observed.parity!.largestDifference > bound,
  );
  const rule = bitwiseEqual ? 'bitwise' : `within ${bound.toExponential(2)} in ln p`;
  const selfTest = `self-test: ${prompts} prompts × ${cuts} cuts ${bitwiseEqual ? 'bitwise equal' : 'not bitwise equal'}`;
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
