import { statSync } from 'node:fs';
import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import type { SavableSequence } from '../llama-state/kv-transfer.ts';
import type { TokenId, TokenIds } from '../token-id.ts';

/** A sequence of a llama.cpp context, through node-llama-cpp. Empty after a failed load. */
export class NativeSequence implements SavableSequence {
  /** Time inside node-llama-cpp: evaluating, sampling, saving and loading, including failed calls. */
  busyMs = 0;
  readonly #context: LlamaContext;
  readonly #takeComplaint: () => Promise<string | undefined>;
  #sequence: LlamaContextSequence;
  #countedBefore = 0;
  /** Tokens that node-llama-cpp counts, although they were no prompt tokens. */
  #uncounted = 0;
  #shiftsWaiting = false;

  constructor(context: LlamaContext, takeComplaint: () => Promise<string | undefined>) {
    this.#context = context;
    this.#takeComplaint = takeComplaint;
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
    await this.#timed(() => this.#sequence.evaluateWithoutGeneratingNewTokens(tokens as Token[]));
  }

  /** Samples tokens. The first `next()` evaluates `tokens`, each later one the previous token; done at an end token. */
  sample(
    tokens: TokenIds,
    sampling: { readonly temperature: number; readonly seed: number },
  ): { next(): Promise<IteratorResult<TokenId, void>>; end(): Promise<void> } {
    this.#shiftsWaiting = false;
    const iterator = this.#sequence.evaluate(tokens as Token[], { ...sampling, topK: 0, topP: 1 });
    return {
      next: () => this.#timed(() => iterator.next()),
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
    const output = await this.#timed(() => this.#sequence.controlledEvaluate(input));
    return output.slice(first).map((item) => item?.next.probabilities ?? new Map());
  }

  /** Erases everything from a position on. There must be a cell directly before the position, unless it is 0. */
  async truncate(position: number): Promise<void> {
    await this.#erase(position, this.#sequence.nextTokenIndex);
    if (position === 0) this.#shiftsWaiting = false;
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
    const { fileSize } = await this.#timed(() => this.#sequence.saveStateToFile(path));
    // llama.cpp writes the last bytes when closing the file, and does not check that there was space.
    const written = statSync(path).size;
    if (written !== fileSize) throw new Error(`${written} of ${fileSize} bytes written`);
    return fileSize;
  }

  async load(path: string): Promise<void> {
    // Discards log lines about earlier calls.
    await this.#takeComplaint();
    this.#shiftsWaiting = false;
    try {
      await this.#timed(() => this.#sequence.loadStateFromFile(path, { acceptRisk: true }));
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
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    this.#countedBefore += usedInputTokens + usedOutputTokens;
    await this.#sequence.dispose();
    this.#sequence = this.#open();
    this.#shiftsWaiting = false;
  }

  async dispose(): Promise<void> {
    await this.#sequence.dispose();
  }

  #open(): LlamaContextSequence {
    const strategy = (): never => {
      throw new RangeError('llama.cpp has no cell left, though the session counts free cells');
    };
    return this.#context.getSequence({ contextShift: { strategy } });
  }

  async #timed<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.busyMs += performance.now() - start;
    }
  }

  async #erase(start: number, end: number): Promise<void> {
    await this.#timed(() => this.#sequence.eraseContextTokenRanges([{ start, end }]));
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
