import { rmSync, statSync } from 'node:fs';
import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import type { SavableSequence } from '../llama-state/kv-transfer.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import { TokenCounter } from '../token-meter.ts';

export interface Truncation {
  /** As `truncatesUpTo` of the engine's capabilities. */
  readonly upTo: number;
  /** Temporary file for the KV at the mark. */
  readonly markPath: string;
}

/** A sequence of a llama.cpp context, through node-llama-cpp. Empty after a failed load. */
export class NativeSequence implements SavableSequence {
  /** Time inside node-llama-cpp: evaluating, sampling, saving and loading, including failed calls. */
  readonly counts = new TokenCounter();
  readonly #context: LlamaContext;
  readonly #takeComplaint: () => Promise<string | undefined>;
  #sequence: LlamaContextSequence;
  #countedBefore = 0;
  /** Tokens that node-llama-cpp counts, although they were no prompt tokens. */
  #uncounted = 0;
  #shiftsWaiting = false;
  readonly #truncation: Truncation | undefined;
  /** Position at which the KV was last saved for `truncate`. */
  #marked: number | undefined;

  /** @param truncation missing if the model's KV can be cut at any position */
  constructor(context: LlamaContext, takeComplaint: () => Promise<string | undefined>, truncation?: Truncation) {
    this.#context = context;
    this.#takeComplaint = takeComplaint;
    this.#truncation = truncation;
    this.#sequence = this.#open();
  }

  get tokens(): TokenIds {
    return this.#sequence.contextTokens;
  }

  /**
   * Tokens that ran through the model, by node-llama-cpp's meter, which counts tokens whose logits were read as output and all
   * others as input. Loading a state adds nothing, which proves that its tokens were not evaluated again.
   */
  get evaluated(): number {
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    return this.#countedBefore + usedInputTokens + usedOutputTokens - this.#uncounted;
  }

  async prefill(tokens: TokenIds): Promise<void> {
    this.#shiftsWaiting = false;
    await this.counts.time(() => this.#sequence.evaluateWithoutGeneratingNewTokens(tokens as Token[]));
  }

  /** Samples tokens. The first `next()` evaluates `tokens`, each later one the previous token; done at an end token. */
  sample(tokens: TokenIds, sampling: { readonly temperature: number; readonly seed: number }) {
    this.#shiftsWaiting = false;
    const iterator = this.#sequence.evaluate(tokens as Token[], { ...sampling, topK: 0, topP: 1 });
    return {
      next: () => this.counts.time(() => iterator.next()),
      end: async () => {
        await iterator.return();
      },
    };
  }

  /** Evaluates tokens. @returns softmax over the vocabulary after each of the last `positions` tokens */
  async probabilities(tokens: TokenIds, positions: number): Promise<ReadonlyMap<TokenId, number>[]> {
    this.#shiftsWaiting = false;
    const first = tokens.length - positions;
    // Above temperature 0, node-llama-cpp cuts and rescales the list of probabilities.
    const listed = { generateNext: { probabilities: true, options: { temperature: 0 } } } as const;
    const input = (tokens as readonly Token[]).map((token, index): Token | [Token, typeof listed] =>
      index < first ? token : [token, listed],
    );
    const output = await this.counts.time(() => this.#sequence.controlledEvaluate(input));
    return output.slice(first).map((item) => item?.next.probabilities ?? new Map());
  }

  /** Remembers the KV of a model with recurrent layers, so that the sequence can be truncated to here. */
  async mark(): Promise<void> {
    const { nextTokenIndex } = this.#sequence;
    if (this.#truncation?.upTo !== 0 || nextTokenIndex === 0 || this.#marked === nextTokenIndex) return;
    this.#marked = undefined;
    await this.save(this.#truncation.markPath);
    this.#marked = nextTokenIndex;
  }

  /**
   * Erases everything from a position on. There must be a cell directly before the position, unless it is 0. If llama.cpp no longer
   * has what the kept tokens need, returns to the mark, or evaluates them again. node-llama-cpp would also do that, but it may use
   * the state of other tokens after a load, and may go on although cells of a sliding window are missing.
   */
  async truncate(position: number): Promise<void> {
    const marked = this.#marked !== undefined && this.#marked <= position ? this.#marked : undefined;
    this.#marked = marked;
    if (this.#canErase(position)) {
      await this.#erase(position, this.#sequence.nextTokenIndex);
      if (position === 0) this.#shiftsWaiting = false;
      return;
    }
    const kept = this.#sequence.contextTokens.slice(0, position);
    if (marked === undefined) await this.truncate(0);
    else await this.load(this.#truncation!.markPath);
    this.#marked = marked;
    const rest = kept.slice(marked ?? 0);
    if (rest.length > 0) await this.prefill(rest);
  }

  /** Erases a range that includes neither the first nor the last position; later tokens move up. */
  async shift(start: number, end: number): Promise<void> {
    const moved = this.#sequence.nextTokenIndex - end;
    await this.#erase(start, end);
    // node-llama-cpp counts rotated tokens as input, though they pass through no layer.
    this.#uncounted += moved;
    this.#shiftsWaiting = true;
  }

  async save(path: string): Promise<number> {
    await this.#rotateShifted();
    const { fileSize } = await this.counts.time(() => this.#sequence.saveStateToFile(path));
    // llama.cpp writes the last bytes when closing the file, and does not check that there was space.
    const written = statSync(path).size;
    if (written !== fileSize) throw new Error(`${written} of ${fileSize} bytes written`);
    return fileSize;
  }

  async load(path: string): Promise<void> {
    this.#marked = undefined;
    // Discards log lines about earlier calls.
    await this.#takeComplaint();
    this.#shiftsWaiting = false;
    try {
      await this.counts.time(() => this.#sequence.loadStateFromFile(path, { acceptRisk: true }));
    } catch (cause) {
      const complaint = await this.#takeComplaint();
      await this.replace();
      const why = complaint ?? (cause instanceof Error ? cause.message : String(cause));
      const message = `${path}: llama.cpp refuses the KV state: ${why}`;
      throw new BenchError('bad-state', message, 'delete it; it will be computed again', cause);
    }
  }

  /** Replaces the sequence by a new one. After a failed call the old one cannot even be cleared. */
  async replace(): Promise<void> {
    this.#marked = undefined;
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    this.#countedBefore += usedInputTokens + usedOutputTokens;
    await this.#sequence.dispose();
    this.#sequence = this.#open();
    this.#shiftsWaiting = false;
  }

  async dispose(): Promise<void> {
    if (this.#truncation !== undefined) rmSync(this.#truncation.markPath, { force: true });
    await this.#sequence.dispose();
  }

  /** True if llama.cpp still has all KV that tokens behind the position attend to. */
  #canErase(position: number): boolean {
    const { nextTokenIndex, stateCellsStartIndex } = this.#sequence;
    if (this.#truncation === undefined || position === 0 || position >= nextTokenIndex) return true;
    const { upTo } = this.#truncation;
    return upTo > 0 && stateCellsStartIndex <= Math.max(0, position - upTo);
  }

  #open(): LlamaContextSequence {
    const strategy = (): never => {
      throw new RangeError('llama.cpp has no cell left, though the session counts free cells');
    };
    return this.#context.getSequence({ contextShift: { strategy }, checkpoints: { max: 0, interval: false } });
  }

  async #erase(start: number, end: number): Promise<void> {
    await this.counts.time(() => this.#sequence.eraseContextTokenRanges([{ start, end }]));
  }

  /** Makes llama.cpp rotate the keys of shifted cells, which it does only at the next evaluation. Saved before, they would be wrong. */
  async #rotateShifted(): Promise<void> {
    if (!this.#shiftsWaiting) return;
    const end = this.#sequence.nextTokenIndex;
    await this.prefill([0]);
    await this.#erase(end, end + 1);
    this.#uncounted++;
  }
}
