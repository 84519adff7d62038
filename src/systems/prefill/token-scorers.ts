import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { firstLayers } from '../../kv/cut-cells.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import { reevaluate } from './reevaluate.ts';
import type { BlockContext } from './gather-blocks.ts';
import { cellsOf } from './scale-prefix.ts';
import type { TokenScorer } from './select-tokens.ts';

/** Scores by which tokens are selected, and their cost. */
export interface TokenScores {
  /** Of every memory token, in order; of the first block nothing is selected, whatever they are there. */
  readonly scores: Float64Array;
  /** Null where nothing was evaluated. */
  readonly selector: Selector | null;
}

/** The rest of a prompt behind joined blocks, and the place of the question in it. */
export interface PromptSuffix {
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
}

/** Joined blocks as a scorer sees them. */
export interface JoinedBlocks {
  /** Contiguous, header included. */
  readonly state: SequenceState;
  readonly header: SequenceState;
  /** As they were built, in order; the first stands where it was. */
  readonly blocks: readonly SequenceState[];
  readonly rest: PromptSuffix;
}

/**
 * The layers of which CacheBlend's deviation is measured: the keys and values of the first come from the token and its
 * position alone, so that those of the second are the cheapest that can tell what a token saw.
 */
const EARLY_LAYERS = 2;

/** Scores the memory tokens of joined blocks by a rule. */
export async function scoreTokens(by: TokenScorer, context: BlockContext, joined: JoinedBlocks): Promise<TokenScores> {
  switch (by) {
    case 'cacheblend-oracle':
      return deviations(context, context.session, joined, { model: 'whole', from: 0 });
    case 'cacheblend': {
      const begin = performance.now();
      const { engine, signal } = context;
      const early = await engine.firstLayers(EARLY_LAYERS, { signal });
      await using session = await early.openSession('selection of tokens', { signal });
      const state = firstLayers(joined.state, EARLY_LAYERS);
      const compared = { model: 'first-layers', from: EARLY_LAYERS - 1 } as const;
      const { scores, selector } = await deviations(context, session, { ...joined, state }, compared);
      return { scores, selector: { ...selector, ms: performance.now() - begin } };
    }
    case 'informative':
    case 'ranked-informative':
      return surprises(context, joined);
    case 'query':
      return attended(context, joined);
  }
}

/** Layers up to the middle one: what a question looks for shows there, and in the first layers little but its words do. */
function layersToMiddle(layers: number): number {
  return Math.floor(layers / 2) + 1;
}

/**
 * How far each token's keys and values lie from those of a full prefill. The first block is that of the prefill already, so
 * that the tokens behind it are evaluated, all of them.
 * @param session of the engine whose layers the state has
 * @param compared the layers from that one on
 */
async function deviations(
  { engine, kv, signal }: BlockContext,
  session: EngineSession,
  { state, header, blocks }: JoinedBlocks,
  { model, from }: { readonly model: Selector['model']; readonly from: number },
): Promise<TokenScores & { readonly selector: Selector }> {
  const begin = performance.now();
  const { leastTokens } = engine.capabilities;
  const firstBlock = blocks[0]!.positions.length;
  const [start, end] = [header.positions.length + firstBlock, state.positions.length];
  using text = await reevaluate({ session, leastTokens, kv, signal }, state, { start, end });
  const scores = new Float64Array(end - header.positions.length);
  scores.set(kv.deviations(kv.cut(state, start, end), text.cells, from), firstBlock);
  const { layers } = state.layout;
  return { scores, selector: { model, tokens: text.evaluatedTokens, layers, ms: performance.now() - begin } };
}

/** Tokens whose probabilities are read at once: an engine may hold a whole distribution of each. */
const TOKENS_AT_ONCE = 16;

/** −ln p of the tokens of blocks; they go with the block's cells in memory, and so are found as long as these are. */
const known = new WeakMap<SequenceState, Float64Array>();

/**
 * The surprise of each token, −ln p in nats, given the header and what precedes it in its own block. It depends on nothing
 * else, so that a block is scored once.
 */
async function surprises(
  context: BlockContext,
  { header, blocks: [first, ...later] }: JoinedBlocks,
): Promise<TokenScores> {
  const begin = performance.now();
  const scores = [...new Float64Array(first!.positions.length)];
  let tokens = 0;
  for (const block of later) {
    const found = known.get(block);
    const scored = found ?? (await scoreBlock(context, header, block));
    if (found === undefined) tokens += evaluatedTokens(context, block);
    known.set(block, scored);
    scores.push(...scored);
  }
  const selector = { model: 'whole', tokens, layers: header.layout.layers, ms: performance.now() - begin } as const;
  return { scores: Float64Array.from(scores), selector: tokens === 0 ? null : selector };
}

/** Each piece is scored behind the tokens in front of it, as many as the engine takes at least. */
async function scoreBlock(
  { engine, session, kv, signal }: BlockContext,
  header: SequenceState,
  { tokenIds }: SequenceState,
): Promise<Float64Array> {
  const { leastTokens } = engine.capabilities;
  const ids = [...header.tokenIds, ...tokenIds];
  const scores: number[] = [];
  for (let at = header.tokenIds.length; at < ids.length; at += TOKENS_AT_ONCE) {
    const front = at - leastTokens;
    if (scores.length > 0) await session.truncate(front, { signal });
    else if (front === 0) await session.clear({ signal });
    else await session.importCells(kv.cut(header, 0, front), { signal });
    const piece = ids.slice(at, at + TOKENS_AT_ONCE);
    const { logProbabilities } = await session.score(ids.slice(front, at), piece, { signal });
    scores.push(...logProbabilities.map((logProbability) => -logProbability));
  }
  return Float64Array.from(scores);
}

/** Of each piece, the tokens in front of it and its own but the last. */
function evaluatedTokens({ engine }: BlockContext, { tokenIds: { length } }: SequenceState): number {
  const { leastTokens } = engine.capabilities;
  return length + Math.ceil(length / TOKENS_AT_ONCE) * (leastTokens - 1);
}

/**
 * The attention of the question to each token in the middle layer: the model up to there, with queries in place of keys,
 * evaluates what follows the memories up to the end of the question.
 */
async function attended(
  { engine, kv, signal }: BlockContext,
  { state, header, rest }: JoinedBlocks,
): Promise<TokenScores> {
  const begin = performance.now();
  const layers = layersToMiddle(state.layout.layers);
  const part = await engine.firstLayers(layers, { queries: true, signal });
  await using session = await part.openSession('selection of tokens', { signal });
  const cells = firstLayers(state, layers);
  await session.importCells(kv.repeatHeads(cells, cellsOf(part).layout.heads), { signal });
  const { suffix, question } = rest;
  const ids = suffix.slice(0, Math.max(question.end, engine.capabilities.leastTokens));
  await session.evaluate(ids, { signal });
  const memories = state.positions.length;
  const range = { start: memories + question.start, end: memories + question.end };
  using queries = await session.exportCells(range, { signal });
  const scores = kv.attention(queries, cells, header.positions.length);
  const ms = performance.now() - begin;
  return { scores, selector: { model: 'first-layers', tokens: ids.length, layers, ms } };
}
