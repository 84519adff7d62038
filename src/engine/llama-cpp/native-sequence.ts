import { statSync } from 'node:fs';
import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import type { SavableSequence } from '../llama-state/kv-transfer.ts';
import type { TokenId, TokenIds } from '../token-id.ts';

/** A sequence of a llama.cpp context. After a failed load it is an empty one. */
export class NativeSequence implements SavableSequence {
  /** Time inside of node-llama-cpp: evaluation, sampling, saving and loading of states; failed calls count too. */
  busyMs = 0;
  readonly #context: LlamaContext;
  readonly #takeComplaint: () => Promise<string | undefined>;
  #sequence: LlamaContextSequence;
  #countedBefore = 0;
  /** Tokens that node-llama-cpp counts though no prompt has them. */
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
   * Tokens that ran through the model, by node-llama-cpp's meter: output tokens are those whose logits were read, all others
   * are input tokens. A loaded state counts nothing, which proves that it was not evaluated again.
   */
  get evaluated(): number {
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    return this.#countedBefore + usedInputTokens + usedOutputTokens - this.#uncounted;
  }

  async prefill(tokens: TokenIds): Promise<void> {
    this.#shiftsWaiting = false;
    await this.#timed(() => this.#sequence.evaluateWithoutGeneratingNewTokens(tokens as Token[]));
  }

  /** Evaluates tokens at the first `next()`, the token given before at each later one; done at an end token. */
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

  /** Evaluates tokens and gives the softmax over the vocabulary behind each of the last ones. */
  async probabilities(tokens: TokenIds, positions: number): Promise<ReadonlyMap<TokenId, number>[]> {
    this.#shiftsWaiting = false;
    const first = tokens.length - positions;
    // At a temperature above 0 the list of probabilities is cut and rescaled.
    const listed = { generateNext: { probabilities: true, options: { temperature: 0 } } } as const;
    const input = (tokens as readonly Token[]).map((token, index): Token | [Token, typeof listed] =>
      index < first ? token : [token, listed],
    );
    const output = await this.#timed(() => this.#sequence.controlledEvaluate(input));
    return output.slice(first).map((item) => item?.next.probabilities ?? new Map());
  }

  /** Erases everything from a position on; nothing below it is empty but for position 0. */
  async truncate(position: number): Promise<void> {
    await this.#erase(position, this.#sequence.nextTokenIndex);
    if (position === 0) this.#shiftsWaiting = false;
  }

  /** Erases positions that are not the first nor the last; those behind move up. */
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
    // llama.cpp does not check that its last bytes, written when it closes the file, found space.
    const written = statSync(path).size;
    if (written !== fileSize) throw new Error(`${written} of ${fileSize} bytes written`);
    return fileSize;
  }

  async load(path: string): Promise<void> {
    // Earlier complaints are not about this file.
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

  /** Replaces the sequence by an empty one: after a failed call it cannot even be cleared. */
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
      throw new RangeError('llama.cpp has no cell left, though the count of cells says so');
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

  /** llama.cpp rotates the keys of shifted cells before the next evaluation, and saves them unrotated until then. */
  async #rotateShifted(): Promise<void> {
    if (!this.#shiftsWaiting) return;
    const end = this.#sequence.nextTokenIndex;
    await this.prefill([0]);
    await this.#erase(end, end + 1);
    this.#uncounted++;
  }
}
