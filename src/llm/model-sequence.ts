import { renameSync, rmSync, statSync } from 'node:fs';
import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { BenchError } from '../config/bench-error.ts';
import { CellLedger } from './cell-ledger.ts';
import { chunkTokens } from './chunk-tokens.ts';
import { decode, type Generation, type GenerationLimits } from './generation.ts';
import type { ModelClock } from './model-clock.ts';
import type { ModelInfo, TokenId } from './model-info.ts';
import { readStatePositions } from './state-file.ts';
import { normalisedEntropy, type SequenceScore, toScore } from './token-probabilities.ts';

/**
 * What node-llama-cpp counted for a sequence: each token that ran through the model, once. One whose logits were
 * asked for is an output token (the last of a prompt, each of `score`'s positions, each pass of generation), any
 * other an input token. A loaded state counts nothing: that proves that a prefix was injected and not read again.
 */
export interface TokenMeterReading {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a sequence needs of the model that it belongs to. */
export interface SequenceHost {
  readonly context: LlamaContext;
  readonly info: ModelInfo;
  readonly clock: ModelClock;
  readonly detokenize: (tokens: readonly TokenId[]) => string;
  /** What llama.cpp has complained of since it was last asked. */
  readonly takeComplaint: () => Promise<string | undefined>;
}

/** One llama.cpp sequence: tokens and their K/V, from position 0 on. Its calls are made one after the other. */
export class ModelSequence {
  readonly #host: SequenceHost;
  readonly #cells = new CellLedger();
  #sequence: LlamaContextSequence;
  /** What the meters of sequences given up after a failed load had counted. */
  #earlier: TokenMeterReading = { inputTokens: 0, outputTokens: 0 };

  /** @throws RangeError where the model was loaded for fewer sequences */
  constructor(host: SequenceHost) {
    if (host.context.sequencesLeft === 0) {
      throw new RangeError(`all ${host.context.totalSequences} sequences are open: load the model with more`);
    }
    this.#host = host;
    this.#sequence = this.#open();
  }

  /** The tokens of the sequence as llama.cpp holds them now, read back at each call. */
  get tokens(): readonly TokenId[] {
    return this.#sequence.contextTokens;
  }

  /** The position that the next token takes. */
  get nextPosition(): number {
    return this.#sequence.nextTokenIndex;
  }

  /** Cells in use; more or fewer than positions only where a loaded state was joined of blocks. */
  get cells(): number {
    return this.#cells.count(this.nextPosition);
  }

  /** The meter now, since the sequence was opened; take two readings and subtract. */
  get meter(): TokenMeterReading {
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    return {
      inputTokens: this.#earlier.inputTokens + usedInputTokens,
      outputTokens: this.#earlier.outputTokens + usedOutputTokens,
    };
  }

  /**
   * Evaluates tokens without generating.
   * @throws RangeError for a single token, whose bits would not be those of the same token in a longer text
   * @throws BenchError `context-overflow`, before anything is evaluated
   */
  async evaluate(tokens: readonly TokenId[]): Promise<void> {
    if (tokens.length === 0) return;
    this.#requireRoom(tokens.length, 1);
    for (const chunk of chunkTokens(tokens, this.#batchTokens)) await this.#prefill(chunk);
  }

  /**
   * Evaluates tokens (two at least) and generates until the end of text, a stop text or the limit. Afterwards the
   * sequence holds the prompt and what was generated, less the last token, which was sampled and not evaluated.
   * @throws BenchError `context-overflow` where the tokens and `maxTokens` do not fit, before anything is evaluated
   */
  async generate(tokens: readonly TokenId[], limits: GenerationLimits): Promise<Generation> {
    const start = performance.now();
    const { maxTokens, temperature = 0, seed = 0 } = limits;
    if (maxTokens < 1) throw new RangeError(`maxTokens is ${maxTokens}: one token at least is generated`);
    this.#requireRoom(tokens.length, maxTokens);
    const chunks = chunkTokens(tokens, this.#batchTokens);
    const prefillStart = performance.now();
    for (const chunk of chunks.slice(0, -1)) await this.#prefill(chunk);
    const iterator = this.#sequence.evaluate(chunks.at(-1) as Token[], { temperature, seed, topK: 0, topP: 1 });
    const nextToken = (): Promise<IteratorResult<TokenId, void>> => this.#host.clock.time(() => iterator.next());
    const { firstTokenAt, ...decoded } = await decode(nextToken, limits, this.#host.detokenize);
    await iterator.return();
    return {
      ...decoded,
      prefillMs: firstTokenAt - prefillStart,
      firstTokenMs: firstTokenAt - start,
      decodeMs: performance.now() - firstTokenAt,
    };
  }

  /**
   * The probabilities of a given continuation after tokens (two at least), by teacher forcing. All of its positions
   * are read in one pass, so that the bits do not depend on how much of the prompt was evaluated before.
   * Afterwards the sequence holds the tokens and the continuation, less its last token.
   * @throws RangeError for an empty continuation, and for one as long as a batch
   * @throws BenchError `context-overflow`, before anything is evaluated
   */
  async score(tokens: readonly TokenId[], continuation: readonly TokenId[]): Promise<SequenceScore> {
    if (tokens.length < 2) throw new RangeError(`${tokens.length} tokens to score after: two at least`);
    if (continuation.length === 0) throw new RangeError('the continuation to score is empty');
    const forced = [...tokens, ...continuation.slice(0, -1)];
    return toScore(
      await this.#probabilities(forced, continuation.length),
      continuation,
      this.#host.info.vocabularySize,
    );
  }

  /**
   * The entropy of the token after tokens (two at least), in nats over ln(vocabulary): 0 is certain, 1 is uniform.
   * @throws BenchError `context-overflow`, before anything is evaluated
   */
  async nextTokenEntropy(tokens: readonly TokenId[]): Promise<number> {
    const [probabilities] = await this.#probabilities(tokens, 1);
    return normalisedEntropy(probabilities!.values(), this.#host.info.vocabularySize);
  }

  /** Erases the tokens from an index to the end; 0 erases all. @throws RangeError beyond the end */
  async truncate(length: number): Promise<void> {
    const end = this.nextPosition;
    if (!Number.isInteger(length) || length < 0 || length > end) {
      throw new RangeError(`cannot truncate a sequence of ${end} tokens to ${length}`);
    }
    if (length === end) return;
    await this.#host.clock.time(() => this.#sequence.eraseContextTokenRanges([{ start: length, end }]));
    this.#cells.truncate(length);
  }

  async clear(): Promise<void> {
    await this.truncate(0);
  }

  /**
   * Writes tokens and K/V to a file, which appears only when it is complete.
   * @throws RangeError for an empty sequence
   * @throws BenchError `disk`
   */
  async saveState(path: string): Promise<{ readonly sizeBytes: number }> {
    if (this.nextPosition === 0) throw new RangeError('an empty sequence has no state to save');
    const unfinished = `${path}.${process.pid}.partial`;
    try {
      const { fileSize } = await this.#host.clock.time(() => this.#sequence.saveStateToFile(unfinished));
      // llama.cpp does not ask whether its last bytes, written when it closes the file, found room.
      const written = statSync(unfinished).size;
      if (written !== fileSize) throw new Error(`${written} of ${fileSize} bytes written`);
      renameSync(unfinished, path);
      return { sizeBytes: fileSize };
    } catch (cause) {
      rmSync(unfinished, { force: true });
      throw new BenchError(
        'disk',
        `${path}: the K/V state could not be written`,
        'free some space or name another folder',
        cause,
      );
    }
  }

  /**
   * Replaces the sequence by a saved one. Layout and length of the file are checked first; whether its bytes are
   * still those that were saved, and of this model, is for the caller to know: llama.cpp asks neither.
   * After a failure the sequence is as it was, or empty, and goes on working.
   * @throws BenchError `bad-state`, or `context-overflow` where its cells leave no room
   */
  async loadState(path: string): Promise<void> {
    const { info } = this.#host;
    const positions = readStatePositions(path, { ...info, ...info.contextOptions });
    if (positions.length >= info.cellTokens) throw overflow(positions.length, 1, info.cellTokens);
    // What llama.cpp complained of before is not about this file.
    await this.#host.takeComplaint();
    try {
      await this.#host.clock.time(() => this.#sequence.loadStateFromFile(path, { acceptRisk: true }));
    } catch (cause) {
      const complaint = await this.#host.takeComplaint();
      await this.#replaceSequence();
      const why = complaint ?? (cause instanceof Error ? cause.message : String(cause));
      throw new BenchError(
        'bad-state',
        `${path}: llama.cpp refuses the K/V state: ${why}`,
        'delete it; it will be computed again',
        cause,
      );
    }
    this.#cells.load(positions);
  }

  async dispose(): Promise<void> {
    await this.#sequence.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  get #batchTokens(): number {
    return this.#host.info.contextOptions.batchTokens;
  }

  #open(): LlamaContextSequence {
    const { context, info } = this.#host;
    const strategy = (): never => {
      throw overflow(this.cells, 1, info.contextTokens);
    };
    return context.getSequence({ contextShift: { strategy } });
  }

  /** After a failed load llama.cpp's sequence answers nothing any more, not even to being cleared. */
  async #replaceSequence(): Promise<void> {
    this.#earlier = this.meter;
    await this.#sequence.dispose();
    this.#sequence = this.#open();
    this.#cells.load(new Int32Array(0));
  }

  /** A window of n tokens has n − 1 cells to evaluate into: the last token of all is sampled, never evaluated. */
  #requireRoom(tokens: number, reserve: number): void {
    const { contextTokens, cellTokens } = this.#host.info;
    const cells = this.cells + tokens;
    const positions = this.nextPosition + tokens;
    if (cells + reserve > cellTokens) throw overflow(cells, reserve, cellTokens);
    if (positions + reserve > contextTokens) throw overflow(positions, reserve, contextTokens);
  }

  async #prefill(chunk: readonly TokenId[]): Promise<void> {
    await this.#host.clock.time(() => this.#sequence.evaluateWithoutGeneratingNewTokens(chunk as Token[]));
  }

  /** Evaluates tokens and gives the softmax over the vocabulary after each of the last ones. */
  async #probabilities(tokens: readonly TokenId[], positions: number): Promise<ReadonlyMap<TokenId, number>[]> {
    this.#requireRoom(tokens.length, 1);
    // Alone, or among others: the number of positions read at once must not vary with the length of the prompt.
    const chunks = chunkTokens(tokens, this.#batchTokens, Math.max(2, positions));
    for (const chunk of chunks.slice(0, -1)) await this.#prefill(chunk);
    const last = chunks.at(-1)!;
    const firstWanted = last.length - positions;
    const input = last.map((token, index) => (index < firstWanted ? (token as Token) : withProbabilities(token)));
    const output = await this.#host.clock.time(() => this.#sequence.controlledEvaluate(input));
    return output.slice(firstWanted).map((item) => item?.next.probabilities ?? new Map());
  }
}

function withProbabilities(
  token: TokenId,
): [Token, { generateNext: { probabilities: true; options: { temperature: 0 } } }] {
  // At a temperature above 0 the list of probabilities is cut and rescaled.
  return [token as Token, { generateNext: { probabilities: true, options: { temperature: 0 } } }];
}

function overflow(tokens: number, reserve: number, contextTokens: number): BenchError {
  return new BenchError(
    'context-overflow',
    `${tokens} tokens and ${reserve} to follow do not fit into a window of ${contextTokens} tokens`,
    'shorten the text, keep fewer memories, or take a longer window: --context-tokens',
  );
}
