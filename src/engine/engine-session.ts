import type { SequenceScore } from './sequence-score.ts';
import type { SequenceState } from './sequence-state.ts';
import type { TokenId, TokenIds, TokenRange } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';
import { z } from 'zod';

/** The caller's record of a checkpoint; the engine stores its KV. */
export const checkpointSchema = z
  .object({
    /** Names the stored KV. */
    id: z.string().regex(/^[0-9a-zA-Z-]{1,100}$/),
    tokens: z.array(z.number().int()),
    bytes: z.number().int().nonnegative(),
    /** SHA-256 of the stored KV; null if the engine does not show its bytes. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    stateIdentity: z.string(),
  })
  .readonly();

/** A saved session: plain JSON naming KV that engines with the same state identity and checkpoint folder can restore. */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;

/** Last argument of every call to an engine or session. */
export interface CallOptions {
  /** Cancels the call, which rejects with the signal's reason unless the method says otherwise. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckpointOptions extends CallOptions {
  /** Letters, digits and hyphens. Choosing it lets a caller record the id before the checkpoint exists. Default: random. */
  readonly id?: string;
}

/** Times of reading stored bytes and of verifying them, in ms. */
export interface ReadTimes {
  read: number;
  verify: number;
}

export interface RestoreOptions extends CallOptions {
  /** Times to add to; nothing is added for a verified copy in memory. */
  readonly spent?: ReadTimes;
}

export interface ClearOptions extends CallOptions {
  /**
   * Prefix-cache namespace of the tokens that follow. With an engine-wide prefix cache, they can reuse tokens that any session
   * evaluated in the same scope. Default: a new, empty scope.
   */
  readonly cacheScope?: string;
}

export interface ScoreOptions extends CallOptions {
  /** Adds the distribution predicting each token of the continuation, if the engine gives whole distributions. Default false. */
  readonly distributions?: boolean;
}

/** When generation ends, and how tokens are sampled. */
export interface GenerationLimits {
  readonly maxTokens: number;
  /** Generation ends when one of these appears. */
  readonly stopTexts?: readonly string[];
  /** Generation ends after the first sentence. Default false. @see sentenceEnd for the rule */
  readonly oneSentence?: boolean;
  /** 0, the default: greedy, no penalties. Above it, tokens are drawn from the whole softmax. */
  readonly temperature?: number;
  /** For temperatures above 0. Default 0. */
  readonly seed?: number;
  /**
   * Called after each token with its id (−1 if the server has not sent it yet) and the answer so far: without thoughts, and
   * without trailing text that may still be cut off. Called once with null if the first token already ends generation.
   */
  readonly onToken?: (id: TokenId | null, text: string) => void;
}

export interface Retry {
  readonly reason: string;
  readonly waitedMs: number;
}

/** A generated continuation, why it ended, and how long it took. */
export interface Generation {
  /** All sampled tokens, including thoughts and tokens after the cut, but not the end-of-text token. */
  readonly tokens: TokenIds;
  /** The answer after any thought, cut before the stop text or after the sentence; no leading white space, no incomplete characters. */
  readonly text: string;
  /** How many of `tokens` belong to a thought, including `<think>` and `</think>`. */
  readonly thoughtTokens: number;
  readonly stop: 'end' | 'stop-text' | 'sentence' | 'length' | 'aborted';
  readonly firstTokenMs: number;
  readonly decodeMs: number;
  /** Empty if the first attempt succeeded. */
  readonly retries: readonly Retry[];
}

/**
 * One sequence of tokens and their KV, from position 0. Calls are queued; each appends to the result of the one before. A call
 * that fails or is aborted leaves the session unchanged or empty.
 *
 * Every method may throw BenchError `context-overflow` (before evaluating anything), `bad-state` (KV that is damaged, from another
 * model or of another layout), `unsupported` (a missing capability), `no-session` (a closed session), and, with servers,
 * `unreachable`, `busy`, `protocol`, `changed` (the model differs from the one at opening).
 *
 * @example
 * declare const session: EngineSession;
 * declare const [memories, question]: readonly TokenId[][];
 * await session.evaluate(memories!);
 * const checkpoint = await session.checkpoint();
 * const answer = await session.generate(question!, { maxTokens: 16, stopTexts: ['\nUser:'] });
 *
 * // Later: the KV of the memories is loaded, not computed again.
 * const before = await session.meter();
 * await session.restore(checkpoint);
 * const again = await session.generate(question!, { maxTokens: 16, stopTexts: ['\nUser:'] });
 * const evaluated = (await session.meter()).evaluated! - before.evaluated!; // question!.length
 */
export interface EngineSession extends AsyncDisposable {
  /** Token at each position; −1 if the position has no cell, or several. */
  readonly tokens: TokenIds;
  /** Cells in use; tokens for an engine without KV. Differs from the number of positions only after importing cells. */
  readonly cells: number;
  /**
   * Evaluates tokens without generating: none, or at least `capabilities.leastTokens`. Checks the signal every few hundred tokens.
   * @throws RangeError for fewer tokens
   */
  evaluate(tokens: TokenIds, options?: CallOptions): Promise<void>;
  /**
   * Evaluates at least `leastTokens` tokens, then generates. Afterwards the session holds prompt and answer, except the last
   * sampled token, which was not evaluated. An abort resolves with the tokens so far; before the first, the session is unchanged.
   * @throws RangeError for fewer tokens, or a limit below 1
   */
  generate(tokens: TokenIds, limits: GenerationLimits, options?: CallOptions): Promise<Generation>;
  /**
   * The next-token distribution after at least `leastTokens` tokens, and ln p of each token of a continuation, which may be
   * empty. The result is the same bit by bit if some tokens were evaluated in earlier calls, as long as their number is a multiple
   * of `exactCuts`. Afterwards the session holds the tokens and the continuation, except its last token.
   * @throws RangeError for fewer tokens, or a continuation that does not fit into one batch
   */
  score(tokens: TokenIds, continuation: TokenIds, options?: ScoreOptions): Promise<SequenceScore>;
  /**
   * Drops everything from a position on, and any gap directly before it. The engine's prefix cache may still reuse the dropped
   * tokens. Beyond `truncatesUpTo`, kept tokens may be evaluated again, which the meter counts.
   * @throws RangeError beyond the end
   */
  truncate(length: number, options?: CallOptions): Promise<void>;
  /**
   * Erases a range of positions; the engine moves later tokens up and rotates their keys. Needs capability `shift`, unless the
   * range is the end of the sequence. Importing the same cells at the new positions may round differently.
   * @throws RangeError beyond the end, and for a range that includes the first cell but not all cells
   */
  erase(range: TokenRange, options?: CallOptions): Promise<void>;
  /** Empties the session. Earlier tokens are reused only within `cacheScope`. */
  clear(options?: ClearOptions): Promise<void>;
  /** Token counts and time since the session was opened. */
  meter(options?: CallOptions): Promise<TokenMeter>;
  /** Saves the session's KV. Needs capability `checkpoints`. @throws RangeError for an empty session @throws BenchError `disk` */
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>;
  /** Replaces the session by a saved one, after verifying its bytes. Needs capability `checkpoints`. */
  restore(checkpoint: Checkpoint, options?: RestoreOptions): Promise<void>;
  /**
   * Copies cells in the order in which they were added: all, or a range in that order. Needs capability `cells`.
   * @throws RangeError for a range beyond the cells @throws BenchError `disk`
   */
  exportCells(range?: TokenRange, options?: CallOptions): Promise<SequenceState>;
  /**
   * Replaces the session by these cells. Needs capability `cells`, and `sharedPositions` if two cells have the same position.
   * @throws BenchError `bad-state` for another layout, negative positions, or numbers that are not finite; `disk`
   */
  importCells(state: SequenceState, options?: CallOptions): Promise<void>;
}
