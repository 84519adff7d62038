import { decided, examples, notRun, type Gate } from './gate.ts';

/**
 * Exact arms give the probabilities of the same prompt evaluated as text: bitwise where the start-up self-test was
 * bitwise equal, else within twice the largest difference that it saw.
 */
export const parity: Gate = ({ arms, answered, probes }) => {
  const exact = new Set(arms.filter((arm) => arm.claims === 'bits').map((arm) => arm.name));
  const compared = answered.filter((turn) => exact.has(turn.arm) && turn.evidence.parity !== null);
  if (compared.length === 0) return notRun('parity', 'no exact arm ran');
  const { bitwiseEqual, largestDifference, prompts, cuts } = probes.parity;
  const bound = 2 * largestDifference;
  const wrong = compared.filter(({ evidence }) =>
    bitwiseEqual ? !evidence.parity!.bitwiseEqual : evidence.parity!.largestDifference > bound,
  );
  const rule = bitwiseEqual ? 'bitwise' : `within ${bound.toExponential(2)} in ln p`;
  const selfTest = `self-test: ${prompts} prompts × ${cuts} cuts ${bitwiseEqual ? 'bitwise equal' : 'not bitwise equal'}`;
  return wrong.length === 0
    ? decided('parity', true, `next token and gold ${rule} equal to text on ${compared.length} turns (${selfTest})`)
    : decided(
        'parity',
        false,
        `${wrong.length} of ${compared.length} turns are not ${rule} equal to text: ${examples(wrong)} (${selfTest})`,
      );
};
