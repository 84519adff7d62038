import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { firstLayers } from '../../kv/cut-cells.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';
import type { Selector } from '../../store/records/turn-account.ts';
import { evaluateAgain } from './evaluate-again.ts';
import type { BlockContext } from './gather-blocks.ts';
import { cellsOf } from './scale-prefix.ts';
import { scoreBlocks } from './score-blocks.ts';
import type { TokenMeasure } from './select-tokens.ts';

/** Scores by which tokens are selected, and what they took. */
export interface MeasuredTokens {
  /** Of every memory token, in order; of the first block nothing is selected, whatever they are there. */
  readonly scores: Float64Array;
  /** Null where nothing was evaluated. */
  readonly selector: Selector | null;
}

/** The rest of a prompt behind joined blocks, and the place of the question in it. */
export interface AskedBehind {
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
}

/** Joined blocks as a measure sees them. */
export interface JoinedTokens {
  /** Contiguous, header included. */
  readonly state: SequenceState;
  readonly header: SequenceState;
  /** As they were built, in order; the first stands where it was. */
  readonly blocks: readonly SequenceState[];
  readonly asked: AskedBehind;
}

/**
 * The layers of which CacheBlend's deviation is measured: the keys and values of the first come from the token and its
 * position alone, so that those of the second are the cheapest that can tell what a token saw.
 */
const EARLY_LAYERS = 2;

/** Measures tokens by a rule. */
export async function measureTokens(
  by: TokenMeasure,
  context: BlockContext,
  joined: JoinedTokens,
): Promise<MeasuredTokens> {
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
  { state, header, blocks }: JoinedTokens,
  { model, from }: { readonly model: Selector['model']; readonly from: number },
): Promise<MeasuredTokens & { readonly selector: Selector }> {
  const begin = performance.now();
  const { leastTokens } = engine.capabilities;
  const firstBlock = blocks[0]!.positions.length;
  const [start, end] = [header.positions.length + firstBlock, state.positions.length];
  using text = await evaluateAgain({ session, leastTokens, kv, signal }, state, { start, end });
  const scores = new Float64Array(end - header.positions.length);
  scores.set(kv.deviations(kv.cut(state, start, end), text.cells, from), firstBlock);
  const { layers } = state.layout;
  return { scores, selector: { model, tokens: text.evaluatedTokens, layers, ms: performance.now() - begin } };
}

/** How little each token is expected by what precedes it in its own block. */
async function surprises(
  context: BlockContext,
  { header, blocks: [first, ...later] }: JoinedTokens,
): Promise<MeasuredTokens> {
  const begin = performance.now();
  const { scores, evaluatedTokens: tokens } = await scoreBlocks(context, header, later);
  const all = Float64Array.from([...new Float64Array(first!.positions.length), ...scores.flatMap((own) => [...own])]);
  const { layers } = header.layout;
  const selector = { model: 'whole', tokens, layers, ms: performance.now() - begin } as const;
  return { scores: all, selector: tokens === 0 ? null : selector };
}

/**
 * How much attention the question pays to each token, in the middle layer: the model up to there, with queries in the place of
 * keys, evaluates what follows the memories up to the end of the question.
 */
async function attended(
  { engine, kv, signal }: BlockContext,
  { state, header, asked }: JoinedTokens,
): Promise<MeasuredTokens> {
  const begin = performance.now();
  const layers = layersToMiddle(state.layout.layers);
  const part = await engine.firstLayers(layers, { queries: true, signal });
  await using session = await part.openSession('selection of tokens', { signal });
  const seen = firstLayers(state, layers);
  await session.importCells(kv.repeatHeads(seen, cellsOf(part).layout.heads), { signal });
  const { suffix, question } = asked;
  const ids = suffix.slice(0, Math.max(question.end, engine.capabilities.leastTokens));
  await session.evaluate(ids, { signal });
  const memories = state.positions.length;
  const range = { start: memories + question.start, end: memories + question.end };
  using asking = await session.exportCells(range, { signal });
  const scores = kv.attention(asking, seen, header.positions.length);
  const ms = performance.now() - begin;
  return { scores, selector: { model: 'first-layers', tokens: ids.length, layers, ms } };
}
