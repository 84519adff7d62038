import {
  type NextDistribution,
  likeliestTokens,
  logProbabilityOf,
  probabilityOf,
} from '../../../engine/sequence-score.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { ChatResponse } from '../../../systems/contracts.ts';
import type { RecordedGeneration } from './turn-recorder.ts';
import { hashOfIds } from './hash-of-ids.ts';

/**
 * The answer of a turn as its engine generated it, beside what the system says of it.
 * @param next the distribution behind the prompt, from the KV that the turn left
 * @param endTokens at which the engine ends generation
 */
export function observedAnswer(
  generation: RecordedGeneration | null,
  { trace }: Pick<ChatResponse, 'trace'>,
  next: NextDistribution,
  endTokens: readonly TokenId[],
): NonNullable<Observed['answer']> {
  if (generation === null) return { sha256: null, asGenerated: false, shortfall: null };
  const { tokens, text } = generation.given;
  return {
    sha256: hashOfIds(tokens),
    asGenerated: trace.answer.text === text && trace.answer.tokenIds.join() === tokens.join(),
    shortfall: shortfallOf(tokens[0], next, endTokens),
  };
}

/** ln p of the likeliest token less that of the first; of an answer that ended at once, less that of an end. */
function shortfallOf(first: TokenId | undefined, next: NextDistribution, endTokens: readonly TokenId[]): number | null {
  const chosen = (first === undefined ? endTokens : [first]).flatMap((token) => probabilityOf(next, token) ?? []);
  const [likeliest] = likeliestTokens(next, 1);
  if (likeliest === undefined || (chosen.length === 0 && next.span === 'top')) return null;
  return logProbabilityOf(likeliest.probability) - logProbabilityOf(Math.max(0, ...chosen));
}
