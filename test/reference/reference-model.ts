import { causal, type Cell, forwardPass, moveCell, placed, scaleCell } from './forward-pass.ts';
import { readWeights, type Weights } from './weights.ts';

/** Logits over the vocabulary after each token. */
export type Logits = readonly Float64Array[];

/** Memories computed apart from each other, and what is asked behind them. */
export interface JoinedPrompt {
  /** What stands before the memories, once. */
  readonly header: readonly number[];
  readonly blocks: readonly (readonly number[])[];
  readonly suffix: readonly number[];
  /** One after the other, or all from the end of the header on. */
  readonly layout: 'blocks' | 'parallel';
  /** How many tokens of each block are evaluated again in sight of all before it. Default 0. */
  readonly linkTokens?: number;
  /** Factor of the memories' values, once everything is in its place. Default 1. */
  readonly alpha?: number;
}

/**
 * What llama.cpp ought to give, computed in another way: in plain TypeScript, from the weights, in 64-bit floats.
 *
 * @example
 * const reference = ReferenceModel.read(await modelPathOf('random:tiny-llama'));
 * const logits = reference.joinedLogits({ header, blocks, suffix, layout: 'blocks', linkTokens: 4 });
 * largestDifference(logits.at(-1)!, nextProbabilities); // in ln p
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
   * @throws RangeError for link tokens of parallel blocks, which have nothing before them to be linked to
   */
  joinedLogits(prompt: JoinedPrompt): Logits {
    const { header, blocks, suffix, layout, linkTokens = 0, alpha = 1 } = prompt;
    if (layout === 'parallel' && linkTokens > 0) throw new RangeError('parallel blocks have no link tokens');
    const headerCells = this.#cells(header, 0, []);
    const joined =
      layout === 'parallel'
        ? blocks.flatMap((block) => this.#cells(block, header.length, headerCells))
        : this.#joinBehind(headerCells, blocks, linkTokens);
    const cells = [...headerCells, ...joined.map((cell) => scaleCell(cell, alpha))];
    const end = cells.reduce((last, { position }) => Math.max(last, position + 1), 0);
    return forwardPass(this.weights, placed(suffix, end), cells, causal(cells.length)).logits;
  }

  /** Each block's cells, moved from behind the header to behind the block before it; the first ones linked. */
  #joinBehind(header: readonly Cell[], blocks: readonly (readonly number[])[], linkTokens: number): Cell[] {
    const finished: Cell[] = [];
    for (const block of blocks) {
      const start = header.length + finished.length;
      // Moving a block turns its keys; its hidden states stay those that it had directly behind the header.
      const apart = this.#cells(block, header.length, header);
      const moved = apart.map((cell, index) => moveCell(this.weights, cell, start + index));
      const linked = this.#cells(block.slice(0, linkTokens), start, [...header, ...finished]);
      finished.push(...linked, ...moved.slice(linked.length));
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

/** The largest difference in ln p between a reference's logits and probabilities, over tokens of p ≥ 1e-6 in either. */
export function largestDifference(logits: Float64Array, probabilities: Float64Array): number {
  return logProbabilities(logits).reduce((largest, expected, token) => {
    const found = probabilities[token]!;
    if (Math.max(Math.exp(expected), found) < RELEVANT_PROBABILITY) return largest;
    return Math.max(largest, Math.abs(expected - Math.log(found)));
  }, 0);
}
