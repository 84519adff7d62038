import { requireCells } from '../../engine/engine-capabilities.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';
import { firstLayers } from '../../kv/cut-cells.ts';
import { type Eviction, seesQuestion } from '../../kv/eviction-rule-and-share.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import type { KvParts, TurnContext } from './prefill-strategy.ts';

/** The prompt after the memories, and the question's place in it. */
export interface PromptSuffix {
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
}

/** One score per memory token, and what was evaluated for them. */
export type CostedScores = Omit<Selector, 'ms'> & { readonly scores: Float64Array };

type ScoringContext = Pick<KvParts<unknown>, 'engine' | 'kv'> & Pick<TurnContext, 'signal'>;

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

interface EvictedTokens {
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
