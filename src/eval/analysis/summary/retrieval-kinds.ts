import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { RetrievalKind } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { turnsOfArm } from '../turns-of-run.ts';

/**
 * The part of retrieval for each user: it gave every memory of the time in all turns, so that the same set comes back, or it selected
 * in some. Empty without a primary arm, whose cache hits are counted by it.
 */
export function retrievalKinds(
  answered: readonly AnsweredResult[],
  arms: readonly ArmTraits[],
): ReadonlyMap<string, RetrievalKind> {
  const primary = arms.find(({ comparison }) => comparison === 'primary')?.name;
  const kinds = new Map<string, RetrievalKind>();
  for (const { userId, item, facts } of turnsOfArm(answered, primary)) {
    if (item.memories > facts.retrievedMemories) kinds.set(userId, 'selection');
    else if (!kinds.has(userId)) kinds.set(userId, 'everything');
  }
  return kinds;
}
