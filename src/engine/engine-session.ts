import type { Checkpoint } from './session-checkpoint.ts';
import type { SequenceScore } from './sequence-score.ts';
import type { SequenceState } from './sequence-state.ts';
import type { TokenId, TokenIds, TokenRange } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';

/** The last argument of every call of the port. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, unless its method says otherwise. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckpointOptions extends CallOptions {
  /** Letters, digits and hyphens; the caller can record it before the checkpoint exists. Default: random. */
  readonly id?: string;
}

export interface ClearOptions extends CallOptions {
  /**
   * The name of the tokens that come next. A prefix cache that spans the engine finds what any session evaluated under the
   * same name. Default: a new name, under which nothing is found.
   */
  readonly cacheScope?: string;
}

export interface ScoreOptions extends CallOptions {
  /** Adds the distribution in front of every token of the continuation, where the engine has all of it. Default false. */
  readonly distributions?: boolean;
}

/** Conditions under which generation goes on and ends. */
export interface GenerationLimits {
  readonly maxTokens: number;
  /** Generation ends where one of these appears. */
  readonly stopTexts?: readonly string[];
  /** Generation ends behind the first sentence. Default false. @see sentenceEnd for the rule */
  readonly oneSentence?: boolean;
  /** 0, the default: greedy, no penalties. Above it, tokens are drawn from the whole softmax. */
  readonly temperature?: number;
  /** For temperatures above 0. Default 0. */
  readonly seed?: number;
  /**
   * Called after each token with its id (−1 while a server has not sent it) and the text so far, without thoughts and without
   * an end that may still be cut off; called once with null where generation ends at its first token.
   */
  readonly onToken?: (id: TokenId | null, text: string) => void;
}

export interface Retry {
  readonly reason: string;
  readonly waitedMs: number;
}

/** A generated continuation, why it ended, and the time that it took. */
export interface Generation {
  /** All sampled tokens, with those of a thought and behind the end of the text, without the end-of-text token. */
  readonly tokens: TokenIds;
  /** The answer behind a thought: cut before the stop text or behind the sentence, without leading white space and split characters. */
  readonly text: string;
  /** Of `tokens`, those of a thought, `<think>` and `</think>` included. */
  readonly thoughtTokens: number;
  readonly stop: 'end' | 'stop-text' | 'sentence' | 'length' | 'aborted';
  readonly firstTokenMs: number;
  readonly decodeMs: number;
  /** Empty where the first attempt succeeded. */
  readonly retries: readonly Retry[];
}

/**
 * Tokens and their KV from position 0 on. Calls queue: each begins where the one before it ended. A call that fails or is
 * aborted leaves the session as it was, or empty.
 *
 * Every method may throw BenchError `context-overflow` (before it evaluates anything), `bad-state` (KV that is damaged, foreign
 * or of another layout), `unsupported` (a missing capability), `no-session` (a closed session), and, behind HTTP,
 * `unreachable`, `busy`, `protocol`, `changed` (another model than at opening).
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
  /** [position], as the adapter counts them; −1 where no cell has the position, or several have. */
  readonly tokens: TokenIds;
  /** Cells in use; tokens for an engine without KV. Differs from the number of positions only behind imported cells. */
  readonly cells: number;
  /**
   * Evaluates tokens without generating; at least `capabilities.leastTokens`, or none. Checks the signal every few hundred
   * tokens.
   * @throws RangeError for fewer
   */
  evaluate(tokens: TokenIds, options?: CallOptions): Promise<void>;
  /**
   * Evaluates at least `leastTokens` tokens and generates. Afterwards the session holds both, without the last sampled token,
   * which is not evaluated. An abort resolves with the tokens so far; before the first one, the session is as it was.
   * @throws RangeError for fewer tokens, or a limit below 1
   */
  generate(tokens: TokenIds, limits: GenerationLimits, options?: CallOptions): Promise<Generation>;
  /**
   * The distribution behind at least `leastTokens` tokens, and ln p of each token of a continuation, which may be empty.
   * Bits do not depend on how many tokens were evaluated before, where that is a multiple of `exactCuts`. Afterwards the session
   * holds the tokens and the continuation, without its last token.
   * @throws RangeError for fewer tokens, or a continuation that is longer than one pass
   */
  score(tokens: TokenIds, continuation: TokenIds, options?: ScoreOptions): Promise<SequenceScore>;
  /**
   * Drops everything from a position on, and positions without a cell directly before it. An engine's prefix cache may find
   * the dropped tokens again.
   * @throws RangeError beyond the end
   */
  truncate(length: number, options?: CallOptions): Promise<void>;
  /**
   * Erases a range of positions; the engine moves later tokens up and rotates their keys. Needs capability `shift`, except at
   * the end, where it truncates. Bits may differ from those of the same cells imported.
   * @throws RangeError beyond the end, and for a range that takes the first cell but not all
   */
  erase(range: TokenRange, options?: CallOptions): Promise<void>;
  /** Empties the session; nothing evaluated before is reused, except under `cacheScope`. */
  clear(options?: ClearOptions): Promise<void>;
  /** Counts since the session was opened. */
  meter(options?: CallOptions): Promise<TokenMeter>;
  /** Saves the session. Needs capability `checkpoints`. @throws RangeError for an empty session @throws BenchError `disk` */
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>;
  /** Replaces the session by a saved one, whose bytes it verifies. Needs capability `checkpoints`. */
  restore(checkpoint: Checkpoint, options?: CallOptions): Promise<void>;
  /**
   * Copies cells out in the order in which they came: all, or a range of that order. Needs capability `cells`.
   * @throws RangeError for a range beyond the cells @throws BenchError `disk`
   */
  exportCells(range?: TokenRange, options?: CallOptions): Promise<SequenceState>;
  /**
   * Replaces the session by these cells. Needs capability `cells`, and `sharedPositions` where two have one position.
   * @throws BenchError `bad-state` for another layout, negative positions and numbers that are not finite; `disk`
   */
  importCells(state: SequenceState, options?: CallOptions): Promise<void>;
}
