import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { whereOf } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { type Check, decided, examples, undecided } from './check.ts';
import { pairsOf, turnsWhere } from './pairs-of.ts';

const ANSWER = turnField('observed', 'answer');
const SAME_AGAIN = turnField('observed', 'sameAgain');

/** Turns of which something is not as it must be, and the words for it. */
interface Fault {
  readonly what: string;
  readonly turns: readonly AnsweredResult[];
}

/**
 * Answers: what is scored is what the engine generated last in the turn; its first token is the likeliest behind the K/V that
 * the turn left, within the noise of the self-test; arms that claim the bits of another give its answers, token by token; and
 * of a seeded sample the answer, generated again from that K/V, is the same. Where the self-test is not bitwise equal, answers
 * may part at a near tie, and other answers decide nothing.
 */
export const answers: Check = ({ arms, answered, probes }) => {
  const seen = whereOf(answered, ANSWER, (answer) => answer !== undefined);
  if (seen.length === 0) return undecided('answers', 'no answer was observed as its engine generated it');
  const { bitwiseEqual, largestDifference } = probes.parity;
  const claims = arms.flatMap(({ name, equivalence, reference }) =>
    equivalence === 'bitwise' && reference !== null ? [{ name, reference }] : [],
  );
  const compared = claims.map(({ name, reference }) => pairsOf(seen, name, reference));
  const pairs = compared.reduce((sum, { turns }) => sum + turns.length, 0);
  const again = whereOf(seen, SAME_AGAIN, (same) => same !== undefined);
  const certain: readonly Fault[] = [
    {
      what: 'are not what the engine generated',
      turns: whereOf(seen, ANSWER, (answer) => !answer!.asGenerated),
    },
    {
      what: 'begin with another than the likeliest token',
      turns: whereOf(seen, ANSWER, (answer) => (answer!.shortfall ?? 0) > 2 * largestDifference),
    },
  ];
  const exact: readonly Fault[] = [
    {
      what: 'differ from those of the arm that they claim to equal',
      turns: compared.flatMap((some) => turnsWhere(some, ANSWER, (own, other) => own!.sha256 !== other!.sha256)),
    },
    {
      what: 'came out otherwise when they were generated again',
      turns: whereOf(again, SAME_AGAIN, (same) => same === false),
    },
  ];
  const found = (faults: readonly Fault[]): string =>
    faults
      .filter(({ turns }) => turns.length > 0)
      .map(({ what, turns }) => `${turns.length} answers ${what}: ${examples(turns)}`)
      .join('; ');
  const wrong = found(bitwiseEqual ? [...certain, ...exact] : certain);
  if (wrong !== '') return decided('answers', false, wrong);
  const parted = found(exact);
  if (parted !== '')
    return undecided('answers', `${parted}; the self-test is not bitwise equal, which allows for that`);
  return decided(
    'answers',
    true,
    `${seen.length} answers are what the engine generated, ${pairs} of them token by token those of the arm they` +
      ` claim to equal; ${again.length} were generated again, and are the same`,
  );
};
