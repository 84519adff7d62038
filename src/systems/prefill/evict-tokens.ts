import { requireCells } from '../../engine/engine-capabilities.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { type Eviction, seesQuestion } from '../../kv/eviction-rule-and-share.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import { type PromptSuffix, questionAttention, type ScoringContext } from './question-attention.ts';

export interface EvictedTokens {
  /** Copies of the cells that are left. */
  readonly cells: SequenceState;
  /** What scoring cost; null if nothing was evaluated for it. */
  readonly selector: Selector | null;
}

/**
 * Drops tokens of memories. A rule that sees the question scores them by the question's attention directly after them,
 * whatever else the prompt has there. The remaining cells are stored for later questions too.
 * @param rest needed by a rule that sees the question @throws RangeError without it
 */
export async function evictTokens(
  context: ScoringContext,
  eviction: Eviction,
  { header, memories }: { readonly header: SequenceState; readonly memories: SequenceState },
  rest: PromptSuffix | undefined,
): Promise<EvictedTokens> {
  const { kv } = context;
  if (!seesQuestion(eviction) || rest === undefined) return { cells: kv.evict(memories, eviction), selector: null };
  const begin = performance.now();
  const { rotary } = requireCells(context.engine);
  using state = kv.join(header, [{ block: memories, position: memories.positions[0]!, alpha: 1 }], { rotary });
  const { scores, ...selector } = await questionAttention(context, state, header.positions.length, rest);
  const cells = kv.evict(memories, eviction, scores);
  return { cells, selector: { ...selector, ms: performance.now() - begin } };
}
