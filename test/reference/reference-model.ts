import { type NextDistribution, probabilityOf } from '../../src/engine/sequence-score.ts';
import { causal, type Cell, forwardPass, moveCell, placed, scaleCell } from './forward-pass.ts';
import { readWeights, type Weights } from './weights.ts';

/** Logits over the vocabulary after each token. */
export type Logits = readonly Float64Array[];

/** A token of a block: its place in the block, and its position in the sequence. */
export interface BlockToken {
  readonly index: number;
  readonly position: number;
}

/** Memories computed apart from each other, and the question behind them. */
export interface JoinedPrompt {
  /** In front of the memories, once. */
  readonly header: readonly number[];
  readonly blocks: readonly (readonly number[])[];
  readonly suffix: readonly number[];
  /** One after the other, or all from the end of the header on. Default `contiguous`. */
  readonly positions?: 'contiguous' | 'parallel';
  /** Tokens of blocks that are evaluated again in sight of all before them. Default: none. */
  readonly recomputed?: (token: BlockToken) => boolean;
  /** Factor of the memories' values, once everything is in its place. Default 1. */
  readonly alpha?: number;
}

/**
 * The results that llama.cpp ought to give, computed in another way: in plain TypeScript, from the weights, in 64-bit
 * floats.
 *
 * @example
 * const reference = ReferenceModel.read(await modelFileOf('random:tiny-llama'));
 * const logits = reference.joinedLogits({ header, blocks, suffix, recomputed: ({ index }) => index < 4 });
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
    const { header, blocks, suffix, positions = 'contiguous', recomputed, alpha = 1 } = prompt;
    if (positions === 'parallel' && recomputed !== undefined)
      throw new RangeError('parallel blocks recompute no tokens');
    const headerCells = this.#cells(header, 0, []);
    const joined =
      positions === 'parallel'
        ? blocks.flatMap((block) => this.#cells(block, header.length, headerCells))
        : this.#joinBehind(headerCells, blocks, recomputed ?? (() => false));
    const cells = [...headerCells, ...joined.map((cell) => scaleCell(cell, alpha))];
    const end = cells.reduce((last, { position }) => Math.max(last, position + 1), 0);
    return forwardPass(this.weights, placed(suffix, end), cells, causal(cells.length)).logits;
  }

  /** Each block's cells, moved from behind the header to behind the block before it, or computed there, one by one. */
  #joinBehind(
    header: readonly Cell[],
    blocks: readonly (readonly number[])[],
    isRecomputed: (token: BlockToken) => boolean,
  ): Cell[] {
    const finished: Cell[] = [];
    for (const block of blocks) {
      // Moving a block rotates its keys; its hidden states stay those that it had directly behind the header.
      const apart = this.#cells(block, header.length, header);
      for (const [index, token] of block.entries()) {
        const position = header.length + finished.length;
        const cells = isRecomputed({ index, position })
          ? this.#cells([token], position, [...header, ...finished])
          : [moveCell(this.weights, apart[index]!, position)];
        finished.push(...cells);
      }
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
