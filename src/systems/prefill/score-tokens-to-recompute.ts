import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenRange } from '../../engine/token-id.ts';
import { firstLayers } from '../../kv/cut-cells.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import type { BlockContext } from './gather-blocks.ts';
import { type CostedScores, type PromptSuffix, questionAttention } from './question-attention.ts';
import type { TokenScorer } from './select-tokens-to-recompute.ts';

export interface TokenScores {
  /** One score per memory token, in order. Those of the first block are ignored: it is never recomputed. */
  readonly scores: Float64Array;
  /** Null if nothing was evaluated. */
  readonly selector: Selector | null;
}

export interface JoinedBlocks {
  /** Contiguous, including the header. */
  readonly state: SequenceState;
  readonly header: SequenceState;
  /** In order, as they were computed; the first one is already at its final position. */
  readonly blocks: readonly SequenceState[];
  readonly rest: PromptSuffix;
}

/** CacheBlend compares the second layer: the first one whose KV depends on preceding tokens. */
const EARLY_LAYERS = 2;

type Score = (context: BlockContext, joined: JoinedBlocks) => Promise<CostedScores>;

const scorers: Readonly<Record<TokenScorer, Score>> = {
  'cacheblend-oracle': (context, joined) => deviations(context, joined, 0),
  cacheblend: async (context, joined) => {
    const { engine, signal } = context;
    const early = await engine.firstLayers(EARLY_LAYERS, { signal });
    await using session = await early.openSession('selection of tokens', { signal });
    const state = firstLayers(joined.state, EARLY_LAYERS);
    const scored = await deviations({ ...context, session }, { ...joined, state }, EARLY_LAYERS - 1);
    return { ...scored, model: 'first-layers' };
  },
  informative: surprises,
  'ranked-informative': surprises,
  query: (context, { state, header, rest }) => questionAttention(context, state, header.positions.length, rest),
};

/** Scores tokens by a rule, and reports what that cost. */
export async function scoreTokensToRecompute(
  by: TokenScorer,
  context: BlockContext,
  joined: JoinedBlocks,
): Promise<TokenScores> {
  const begin = performance.now();
  const { scores, ...selector } = await scorers[by](context, joined);
  return { scores, selector: selector.tokens === 0 ? null : { ...selector, ms: performance.now() - begin } };
}

/** Deviations of KV from a full prefill of all tokens after the first block. @param fromLayer first layer to compare */
async function deviations(
  context: BlockContext,
  { state, header, blocks }: JoinedBlocks,
  fromLayer: number,
): Promise<CostedScores> {
  const { kv } = context;
  const headerTokens = header.positions.length;
  const firstBlock = blocks[0]!.positions.length;
  const [start, end] = [headerTokens + firstBlock, state.positions.length];
  using text = await reevaluate(context, state, { start, end });
  const scores = new Float64Array(end - headerTokens);
  scores.set(kv.deviations(kv.cut(state, start, end), text.cells, fromLayer), firstBlock);
  return { scores, model: 'whole', tokens: text.evaluatedTokens, layers: state.layout.layers };
}

/** Tokens scored per call: an engine may hold a whole distribution for each. */
const TOKENS_AT_ONCE = 16;

/** Surprises of each block's tokens, cached while its cells are in memory. */
const knownSurprises = new WeakMap<SequenceState, readonly number[]>();

/** The surprise of each token, −ln p in nats, given the header and the tokens before it in its block. */
async function surprises(
  context: BlockContext,
  { header, blocks: [first, ...later] }: JoinedBlocks,
): Promise<CostedScores> {
  const { leastTokens } = context.engine.capabilities;
  const scores = [...new Float64Array(first!.positions.length)];
  let tokens = 0;
  for (const block of later) {
    let known = knownSurprises.get(block);
    if (known === undefined) {
      known = await scoreBlock(context, header, block);
      knownSurprises.set(block, known);
      // Each call evaluates `leastTokens` before its piece, and the piece without its last token.
      const { length } = block.tokenIds;
      tokens += length + Math.ceil(length / TOKENS_AT_ONCE) * (leastTokens - 1);
    }
    scores.push(...known);
  }
  return { scores: Float64Array.from(scores), model: 'whole', tokens, layers: header.layout.layers };
}

/** Scores a block in pieces, each after the minimum number of tokens that the engine must evaluate before it. */
async function scoreBlock(
  { engine, session, kv, signal }: BlockContext,
  header: SequenceState,
  { tokenIds }: SequenceState,
): Promise<number[]> {
  const ids = [...header.tokenIds, ...tokenIds];
  const scores: number[] = [];
  for (let at = header.tokenIds.length; at < ids.length; at += TOKENS_AT_ONCE) {
    const front = at - engine.capabilities.leastTokens;
    if (scores.length > 0) await session.truncate(front, { signal });
    else if (front === 0) await session.clear({ signal });
    else await session.importCells(kv.cut(header, 0, front), { signal });
    const piece = ids.slice(at, at + TOKENS_AT_ONCE);
    const { logProbabilities } = await session.score(ids.slice(front, at), piece, { signal });
    scores.push(...logProbabilities.map((logProbability) => -logProbability));
  }
  return scores;
}

/** Evaluates the tokens of a range again, after the cells before it. @param state contiguous */
export async function reevaluate(
  { engine, session, kv, signal }: Pick<BlockContext, 'engine' | 'session' | 'kv' | 'signal'>,
  state: SequenceState,
  { start, end }: TokenRange,
) {
  const { leastTokens } = engine.capabilities;
  const ids = [...state.tokenIds.subarray(start, Math.max(end, start + leastTokens))];
  while (ids.length < leastTokens) ids.push(ids.at(-1)!);
  {
    using first = kv.first(state, start);
    await session.importCells(first);
  }
  await session.evaluate(ids, { signal });
  const cells = await session.exportCells({ start, end });
  // Evaluates more tokens than the range if the engine has a minimum; later tokens do not change earlier ones.
  return { cells, evaluatedTokens: ids.length, [Symbol.dispose]: () => cells[Symbol.dispose]() };
}
