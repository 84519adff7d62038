import type { SequenceState } from '../../engine/sequence-state.ts';
import type { Selector } from '../../records/turn-account.ts';
import { evaluateAgain } from './evaluate-again.ts';
import type { BlockContext } from './gather-blocks.ts';

/** Scores by which tokens are selected, and what they took. */
export interface MeasuredTokens {
  /** Of every memory token, in order. */
  readonly scores: Float64Array;
  readonly selector: Selector;
}

/** Joined blocks as a measure sees them. */
export interface JoinedTokens {
  /** Contiguous, header included. */
  readonly state: SequenceState;
  /** Cells of the header. */
  readonly header: number;
  /** Cells of the first block, which stands where it was built. */
  readonly firstBlock: number;
}

/**
 * How far each token's keys and values lie from those of a full prefill, over all layers. The first block is that of the
 * prefill already, so that the tokens behind it are evaluated, all of them.
 * @see CacheBlend, arXiv 2405.16444, which measures them layer by layer
 */
export async function deviationsFromText(
  { engine, session, kv, signal }: BlockContext,
  { state, header, firstBlock }: JoinedTokens,
): Promise<MeasuredTokens> {
  const begin = performance.now();
  const { leastTokens } = engine.capabilities;
  const [start, end] = [header + firstBlock, state.positions.length];
  using text = await evaluateAgain({ session, leastTokens, kv, signal }, state, { start, end });
  const scores = new Float64Array(end - header);
  scores.set(kv.deviations(kv.cut(state, start, end), text.cells), firstBlock);
  return {
    scores,
    selector: {
      model: 'whole',
      tokens: text.evaluatedTokens,
      layers: state.layout.layers,
      ms: performance.now() - begin,
    },
  };
}
