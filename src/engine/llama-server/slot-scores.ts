import type { CallOptions } from '../engine-session.ts';
import { CERTAIN, forcedScore, type ScoredModel } from '../http/forced-score.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { TokenId } from '../token-id.ts';
import type { Slot } from './slot.ts';

/** Scores a continuation in a slot. @param held ids that the slot holds */
export function scoreIn(
  slot: Slot,
  ids: readonly TokenId[],
  held: number,
  continuation: readonly TokenId[],
  model: ScoredModel,
  { distributions = false, ...options }: CallOptions & { readonly distributions?: boolean },
): Promise<SequenceScore> {
  return forcedScore(
    async (request) => {
      const asked = { n_predict: 1, n_probs: request.count, logit_bias: [[request.token, CERTAIN]] } as const;
      const answer = await slot.complete(request.ids, request.held, asked, { ...options, isStep: request.isStep });
      return answer.completion_probabilities?.[0];
    },
    ...([ids, held, continuation, model, distributions] as const),
  );
}
