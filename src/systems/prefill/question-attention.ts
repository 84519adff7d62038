import { requireCells } from '../../engine/engine-capabilities.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';
import { firstLayers } from '../../kv/cut-cells.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import type { KvParts, TurnContext } from './prefill-strategy.ts';

/** The prompt after the memories, and the question's place in it. */
export interface PromptSuffix {
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
}

/** One score per memory token, and what was evaluated for them. */
export type CostedScores = Omit<Selector, 'ms'> & { readonly scores: Float64Array };

export type ScoringContext = Pick<KvParts<unknown>, 'engine' | 'kv'> & Pick<TurnContext, 'signal'>;

/**
 * The question's attention to each memory token in the middle layer; earlier layers mostly attend to repeated words.
 * @param state contiguous: the header and memories
 */
export async function questionAttention(
  { engine, kv, signal }: ScoringContext,
  state: SequenceState,
  headerTokens: number,
  { suffix, question }: PromptSuffix,
): Promise<CostedScores> {
  const layers = Math.floor(state.layout.layers / 2) + 1;
  const part = await engine.firstLayers(layers, { queries: true, signal });
  await using session = await part.openSession('selection of tokens', { signal });
  const cells = firstLayers(state, layers);
  await session.importCells(kv.repeatHeads(cells, requireCells(part).layout.heads), { signal });
  const ids = suffix.slice(0, Math.max(question.end, engine.capabilities.leastTokens));
  await session.evaluate(ids, { signal });
  const memories = state.positions.length;
  const range = { start: memories + question.start, end: memories + question.end };
  using queries = await session.exportCells(range, { signal });
  const scores = kv.attention(queries, cells, headerTokens);
  return { scores, model: 'first-layers', tokens: ids.length, layers };
}
