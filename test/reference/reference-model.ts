import { type NextDistribution, tokenProbability } from '../../src/engine/sequence-score.ts';
import { causal, type Cell, divideKeys, forwardPass, moveCell, placed, scaleCell } from './forward-pass.ts';
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
  /** The context of a block while it is computed: nothing, or the header and the block before it. Default: the header. */
  readonly context?: 'none' | 'previous' | undefined;
  /** The first tokens of the header, behind what else a block sees of it; kept: in front of each block in the sequence too. */
  readonly sink?: { readonly tokens: number; readonly kept: boolean } | undefined;
  /** Divides the keys of blocks. Default 1. */
  readonly temperature?: number | undefined;
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
 * const reference = ReferenceModel.read(await resolveModelFile('random:tiny-llama'));
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
    const { header, suffix, positions = 'contiguous', recomputed, alpha = 1, temperature = 1 } = prompt;
    if (positions === 'parallel' && recomputed !== undefined)
      throw new RangeError('parallel blocks recompute no tokens');
    const headerCells = this.#cells(header, 0, []);
    const finished = (cells: readonly Cell[]): Cell[] =>
      cells.map((cell) => scaleCell(divideKeys(cell, temperature), alpha));
    const isContiguous = positions === 'contiguous';
    const joined =
      recomputed === undefined
        ? this.#joinApart(headerCells, prompt, isContiguous, finished)
        : finished(this.#joinBehind(headerCells, prompt, recomputed));
    const cells = [...headerCells, ...joined];
    const end = cells.reduce((last, { position }) => Math.max(last, position + 1), 0);
    return forwardPass(this.weights, placed(suffix, end), cells, causal(cells.length)).logits;
  }

  /** Blocks as they were computed, each moved to its place behind the tokens that are kept in front of it. */
  #joinApart(
    header: readonly Cell[],
    prompt: JoinedPrompt,
    isContiguous: boolean,
    finished: (cells: readonly Cell[]) => readonly Cell[],
  ): Cell[] {
    const joined: Cell[] = [];
    for (const index of prompt.blocks.keys()) {
      const start = header.length + (isContiguous ? joined.length : 0);
      const { sink, own } = this.#apart(prompt, header, index);
      const kept = prompt.sink?.kept === true ? sink : [];
      joined.push(...this.#moved(kept, start), ...finished(this.#moved(own, start + kept.length)));
    }
    return joined;
  }

  /** Each block's cells, moved from behind the header to behind the block before it, or computed there, one by one. */
  #joinBehind(header: readonly Cell[], prompt: JoinedPrompt, isRecomputed: (token: BlockToken) => boolean): Cell[] {
    const finished: Cell[] = [];
    for (const [number, block] of prompt.blocks.entries()) {
      // Moving a block rotates its keys; its hidden states stay those that it had where it was computed.
      const { own: apart } = this.#apart(prompt, header, number);
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

  /** The cells of a block where it is computed, and of the shared tokens in front of it. */
  #apart(
    { header, blocks, context, sink }: JoinedPrompt,
    headerCells: readonly Cell[],
    index: number,
  ): { readonly sink: readonly Cell[]; readonly own: readonly Cell[] } {
    const front = context === 'none' ? [] : headerCells;
    const shared = header.slice(0, sink?.tokens ?? 0);
    const neighbour = context === 'previous' ? (blocks[index - 1] ?? []) : [];
    const cells = this.#cells([...shared, ...neighbour, ...blocks[index]!], front.length, front);
    return { sink: cells.slice(0, shared.length), own: cells.slice(shared.length + neighbour.length) };
  }

  #moved(cells: readonly Cell[], start: number): Cell[] {
    return cells.map((cell, index) => moveCell(this.weights, cell, start + index));
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
    const found = tokenProbability(next, token) ?? 0;
    if (Math.max(Math.exp(expected), found) < RELEVANT_PROBABILITY) return largest;
    return Math.max(largest, Math.abs(expected - Math.log(found)));
  }, 0);
}
