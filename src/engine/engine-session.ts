import type { Checkpoint } from './checkpoint.ts';
import type { SequenceScore } from './sequence-score.ts';
import type { SequenceState } from './sequence-state.ts';
import type { TokenId, TokenRange } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';

/** Options of a checkpoint. */
export interface CheckpointOptions extends CallOptions {
  /** Names it (letters, digits, hyphens), so that whoever keeps it can write the name down first. Default: random. */
  readonly id?: string;
}

/** Options of emptying a session. */
export interface ClearOptions extends CallOptions {
  /**
   * Names whose tokens come next: where the engine's prefix cache spans all of it, what any session evaluated under the same
   * name may be found again. Default: a name that nobody else has, under which nothing is found.
   */
  readonly cacheScope?: string;
}

/** Options of a score. */
export interface ScoreOptions extends CallOptions {
  /** Gives the distribution in front of every token of the continuation, where the engine has all of it. Default false. */
  readonly distributions?: boolean;
}

/**
 * Tokens and their KV from position 0 on. Calls queue: each begins where the one before it ended. A call that fails or is
 * aborted leaves the session as it was, or empty.
 *
 * Every method may throw BenchError `context-overflow` (before anything is evaluated: `requireSpace` of `window.ts`), `bad-state` (KV that is damaged,
 * foreign or of another layout), `unsupported` (`NAME: reason` of the missing capability), `no-session` (once it is disposed of), and,
 * behind HTTP, `unreachable`, `busy`, `protocol`, `changed` (another model than at opening).
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
  /** The token at each position, by the adapter's own book; −1 where no cell has it, or several have. */
  readonly tokens: readonly TokenId[];
  /** Cells in use, for an engine without KV its tokens; more or fewer than positions only behind imported cells. */
  readonly cells: number;
  /**
   * Evaluates tokens without generating; `capabilities.leastTokens` at least, or none. Asks the signal, and lets other work of
   * the process run, every few hundred tokens.
   * @throws RangeError for fewer
   */
  evaluate(tokens: readonly TokenId[], options?: CallOptions): Promise<void>;
  /**
   * Evaluates tokens (`leastTokens` at least) and generates. Afterwards the session holds both, less the token that was
   * sampled last (an end token, too), which is not evaluated. An abort resolves with what there is: before the first
   * token with none, the session as it was.
   * @throws RangeError for fewer tokens, or a limit below 1
   */
  generate(tokens: readonly TokenId[], limits: GenerationLimits, options?: CallOptions): Promise<Generation>;
  /**
   * The distribution behind the tokens (`leastTokens` at least) and ln p of each token of a continuation, which may be
   * empty. Every token before and its place show in the distribution. Bits do not depend on how many tokens were
   * evaluated before where the engine has `exactCuts`. Afterwards the session holds the tokens and the continuation, less
   * its last token.
   * @throws RangeError for fewer tokens, or a continuation that is longer than what is evaluated in one pass
   */
  score(tokens: readonly TokenId[], continuation: readonly TokenId[], options?: ScoreOptions): Promise<SequenceScore>;
  /**
   * Drops everything from a position on, and positions without a cell directly before it: the next token always stands
   * behind a cell. An engine's prefix cache may find what was dropped.
   * @throws RangeError beyond the end
   */
  truncate(length: number, options?: CallOptions): Promise<void>;
  /**
   * Erases a range of positions; later tokens move up by its length, their keys rotated by the engine. Capability `shift`,
   * but for a range up to the end, which is truncated. Bits behind it may differ from those behind the same cells imported.
   * @throws RangeError beyond the end, and where a range that is not the whole would take the first cell
   */
  erase(range: TokenRange, options?: CallOptions): Promise<void>;
  /** Empties the session; nothing that was evaluated before is reused, but for what `cacheScope` names. */
  clear(options?: ClearOptions): Promise<void>;
  /** Counts since the session was opened. */
  meter(options?: CallOptions): Promise<TokenMeter>;
  /** The ids as the engine itself holds them; null where the only list is the caller's own. */
  readBack(options?: CallOptions): Promise<readonly TokenId[] | null>;
  /** Saves the session. Capability `checkpoints`. @throws RangeError for an empty session @throws BenchError `disk` */
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>;
  /**
   * Replaces the session by a saved one, its bytes verified. Capability `checkpoints`.
   * @throws BenchError `bad-state`, `context-overflow`
   */
  restore(checkpoint: Checkpoint, options?: CallOptions): Promise<void>;
  /**
   * Copies cells out in the order in which they came into the session; all, or those whose place in that order lies in the
   * range. Capability `cells`.
   * @throws RangeError for a range beyond the cells @throws BenchError `disk`
   */
  exportCells(range?: TokenRange, options?: CallOptions): Promise<SequenceState>;
  /**
   * Replaces the session by these cells. Capability `cells`, and `sharedPositions` where two of them have one position.
   * @throws BenchError `bad-state` for another layout, negative positions, and numbers that are not finite;
   * `context-overflow`, `disk`
   */
  importCells(state: SequenceState, options?: CallOptions): Promise<void>;
}

/** The last argument of every call of the port. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, unless its method says otherwise. */
  readonly signal?: AbortSignal | undefined;
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
   * Called after each token with its id, −1 where a server has not told it yet, and the text so far, without thoughts, and without an end that may still be cut off;
   * once with null where generation ends at its first token.
   */
  readonly onToken?: (id: TokenId | null, text: string) => void;
}

/** A call that an engine had to make again, and why. */
export interface Retry {
  readonly reason: string;
  readonly waitedMs: number;
}

/** A generated continuation, why it ended, and the time that it took. */
export interface Generation {
  /** Every token that was sampled, those of a thought and behind the end of the text included, the end-of-text token not. */
  readonly tokens: readonly TokenId[];
  /**
   * The answer: behind a thought, cut before the stop text or behind the sentence, without leading white space and without a
   * character that the last token left unfinished.
   */
  readonly text: string;
  /** Of `tokens`, those of a thought, `<think>` and `</think>` included. */
  readonly thoughtTokens: number;
  readonly stop: 'end' | 'stop-text' | 'sentence' | 'length' | 'aborted';
  /** From the call to the first token. */
  readonly firstTokenMs: number;
  /** From the first token to the end. */
  readonly decodeMs: number;
  /** Empty where the first attempt succeeded. */
  readonly retries: readonly Retry[];
}
