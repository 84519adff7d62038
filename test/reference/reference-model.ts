import { type NextDistribution, probabilityOf } from '../../src/engine/sequence-score.ts';
import { causal, type Cell, forwardPass, moveCell, placed, scaleCell } from './forward-pass.ts';
import { readWeights, type Weights } from './weights.ts';

/** Logits over the vocabulary after each token. */
export type Logits = readonly Float64Array[];

/** Memories computed apart from each other, and the question behind them. */
export interface JoinedPrompt {
  /** In front of the memories, once. */
  readonly header: readonly number[];
  readonly blocks: readonly (readonly number[])[];
  readonly suffix: readonly number[];
  /** One after the other, or all from the end of the header on. Default `contiguous`. */
  readonly positions?: 'contiguous' | 'parallel';
  /** First tokens of each block that are evaluated again in sight of all before it. Default 0. */
  readonly recomputedTokens?: number;
  /** Factor of the memories' values, once everything is in its place. Default 1. */
  readonly alpha?: number;
}

/**
 * The results that llama.cpp ought to give, computed in another way: in plain TypeScript, from the weights, in 64-bit
 * floats.
 *
 * @example
 * const reference = ReferenceModel.read(await modelFileOf('random:tiny-llama'));
 * const logits = reference.joinedLogits({ header, blocks, suffix, recomputedTokens: 4 });
 * largestDifference(logits.at(-1)!, score.next); // in ln p
 */
export class ReferenceModel {
  readonly weights: Weights;

  private constructor(weights: Weights) {
    this.weights = weights;
  }

  /** @throws Error where the file's weights are not 32-bit floats */
  static read(path: string): ReferenceModel {
    return new ReferenceModel(readWeights(path));
  }

  /** One contiguous text: the logits after each of its tokens. */
  prefixLogits(tokens: readonly number[]): Logits {
    return forwardPass(this.weights, placed(tokens, 0), [], causal(0)).logits;
  }

  /**
   * The logits after each token of the suffix. It stands at the first position after all memories.
   * @throws RangeError for recomputed tokens of parallel blocks, which have nothing before them to see
   */
  joinedLogits(prompt: JoinedPrompt): Logits {
    const { header, blocks, suffix, positions = 'contiguous', recomputedTokens = 0, alpha = 1 } = prompt;
    if (positions === 'parallel' && recomputedTokens > 0) throw new RangeError('parallel blocks recompute no tokens');
    const headerCells = this.#cells(header, 0, []);
    const joined =
      positions === 'parallel'
        ? blocks.flatMap((block) => this.#cells(block, header.length, headerCells))
        : this.#joinBehind(headerCells, blocks, recomputedTokens);
    const cells = [...headerCells, ...joined.map((cell) => scaleCell(cell, alpha))];
    const end = cells.reduce((last, { position }) => Math.max(last, position + 1), 0);
    return forwardPass(this.weights, placed(suffix, end), cells, causal(cells.length)).logits;
  }

  /** Each block's cells, moved from behind the header to behind the block before it; the first ones recomputed. */
  #joinBehind(header: readonly Cell[], blocks: readonly (readonly number[])[], recomputedTokens: number): Cell[] {
    const finished: Cell[] = [];
    for (const block of blocks) {
      const start = header.length + finished.length;
      // Moving a block rotates its keys; its hidden states stay those that it had directly behind the header.
      const apart = this.#cells(block, header.length, header);
      const moved = apart.map((cell, index) => moveCell(this.weights, cell, start + index));
      const recomputed = this.#cells(block.slice(0, recomputedTokens), start, [...header, ...finished]);
      finished.push(...recomputed, ...moved.slice(recomputed.length));
    }
    return finished;
  }

  #cells(tokens: readonly number[], from: number, before: readonly Cell[]): readonly Cell[] {
    return forwardPass(this.weights, placed(tokens, from), before, causal(before.length)).cells;
  }
}

const RELEVANT_PROBABILITY = 1e-6;

/** ln p of every token, from its logits. */
export function logProbabilities(logits: Float64Array): Float64Array {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const total = logits.reduce((all, logit) => all + Math.exp(logit - largest), 0);
  return logits.map((logit) => logit - largest - Math.log(total));
}

/** The largest difference in ln p between a reference's logits and a distribution, over tokens of p ≥ 1e-6 in either. */
export function largestDifference(logits: Float64Array, next: NextDistribution): number {
  return logProbabilities(logits).reduce((largest, expected, token) => {
    const found = probabilityOf(next, token) ?? 0;
    if (Math.max(Math.exp(expected), found) < RELEVANT_PROBABILITY) return largest;
    return Math.max(largest, Math.abs(expected - Math.log(found)));
  }, 0);
}
