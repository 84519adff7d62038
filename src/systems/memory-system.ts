import type { Language } from '../base/language.ts';
import type { CallOptions } from '../engine/engine-session.ts';
import type { TokenId } from '../engine/token-id.ts';
import type { MemorySearchResult, RetrievalSummary } from '../retrieval/retriever.ts';
import type { HistoryMessage, PromptInfo } from '../store/records/prompt-info.ts';
import type { PrefillRecord } from '../store/records/prefill-record.ts';
import type { AnswerRecord, RetrievalRecord, Timings, TokenCounts, TurnAccount } from '../store/records/turn-record.ts';
import type { AnswerOpening } from './prompt/answer-places.ts';
import type { MemoryText } from './prompt/precomputed-lines.ts';

/**
 * A system that answers its users with the help of memories. Any number of calls may be made at once: turns that find no
 * session free wait in the order of arrival, turns of one conversation follow each other, and no memory is replaced or
 * removed while a turn runs. Once the system is closed, calls that wait reject with BenchError `no-session`.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'dki' });
 * await system.addMemory('session-1', 'I live in Lyon.', { userId: 'ada' });
 * const { text, timings } = await system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
 */
export interface MemorySystem {
  /** Answers one query of one user. @throws BenchError `context-overflow` where the query alone is too long */
  chat(request: ChatRequest): Promise<ChatResponse>;
  /** Stores a memory, embedded and indexed; returns its id. An id that exists is replaced. */
  addMemory(sessionId: string, content: string, options?: AddMemoryOptions): Promise<string>;
  /**
   * Removes a memory, all KV that contains it, and the turns of its user that were answered with it or say its text, before it
   * returns. Without `userId` the owner is that of the stored memory. False where the session has no such memory of the user;
   * then nothing is touched but KV under that id.
   */
  removeMemory(sessionId: string, memoryId: string, userId?: string): Promise<boolean>;
  /** Brings the index to the memories that the database holds for a session; returns how many. */
  loadMemoriesFromDb(sessionId: string): Promise<number>;
  /** Retrieves without answering. */
  searchMemories(query: string, options?: SearchOptions): Promise<readonly MemorySearchResult[]>;
  /** Counts and settings at this moment. */
  getStats(): SystemStats;
}

/** A memory system as the bench and the command line run it. */
export interface BenchSystem extends MemorySystem, AsyncDisposable {
  /** The owner of a session's memory; undefined where it is another user's than the one that is named. */
  memoryOwner(
    sessionId: string,
    memoryId: string,
    userId?: string,
  ): { readonly userId: string | undefined } | undefined;
  /** Deletes all KV that contains a memory of the user before it returns; gives the number of entries. */
  forgetMemory(userId: string, memoryId: string): Promise<number>;
  /**
   * Computes KV of memories before a turn asks for them, outside the turn's clock and meter; the next response says what
   * that took. Missing where nothing is done ahead.
   */
  prepare?(userId: string, memories: readonly MemoryText[], options?: PrepareOptions): Promise<void>;
  /** Deletes the KV that was kept so far. */
  reset(): Promise<void>;
}

/** How the turns are asked for which KV is computed ahead. */
export type PrepareOptions = CallOptions & Pick<ChatRequest, 'systemPrompt' | 'language'>;

/** Owner, id and metadata of a new memory. */
export interface AddMemoryOptions {
  readonly userId?: string;
  readonly memoryId?: string;
  /**
   * Such as `createdAt` (ISO 8601, by default the time of the call), and `preference: true` for a preference, which
   * `dki-hybrid` injects in every turn.
   */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Bounds of a search. Default: the system's own, over memories of no user. */
export interface SearchOptions {
  readonly userId?: string;
  readonly topK?: number;
  readonly threshold?: number;
}

/** Memories that were retrieved for a turn, best first, and the cost of that. */
export interface RetrievedMemories {
  readonly memories: readonly MemorySearchResult[];
  /** Counts in the turn's time to first token. */
  readonly elapsedMs: number;
  /** Null where no retriever was asked. */
  readonly record: RetrievalRecord | null;
  /** Of a retriever that makes one. */
  readonly summary?: RetrievalSummary;
  /** Ids that were found, and that another process has removed since: they are left out, and their KV is deleted. */
  readonly removed?: readonly string[];
}

/** One turn: the query, and all that may be known or decided beforehand. */
export interface ChatRequest {
  readonly query: string;
  readonly sessionId: string;
  readonly userId?: string;
  readonly topK?: number;
  /** Default: that of the system's prompt rules, in the user's language; empty for no system message. */
  readonly systemPrompt?: string;
  /** The user's language. Default: that of the query. */
  readonly language?: Language;
  /** A beginning for the answer to this very question; given to the model where the rules ask for one of each item. */
  readonly answerPrefix?: string;
  /** At most the tokens that the prompt reserves; what is above that is cut down, with a warning. Default 48. */
  readonly maxNewTokens?: number;
  readonly temperature?: number;
  /** Default true. */
  readonly includeHistory?: boolean;
  /** Most turns of the history in the prompt, a message of the user and its answer each. Default: as many as the budget holds. */
  readonly maxHistoryTurns?: number;
  /** Memories retrieved beforehand. Default: the system asks its own retriever. */
  readonly retrieved?: RetrievedMemories;
  /** The conversation so far, oldest message first. Default: the session's messages in the database. */
  readonly history?: readonly HistoryMessage[];
  /** The user's preferences, for a system that injects these alone. Default: those in the table `user_preferences`. */
  readonly preferences?: readonly MemorySearchResult[];
  /**
   * Ends the answer after the token that is being generated; the text so far is the answer. Before the first token, where the
   * turn waits or KV is computed, the call rejects with the signal's reason.
   */
  readonly signal?: AbortSignal;
  /** Called after every token with the answer so far, its prefix included. */
  readonly onText?: (text: string) => void;
}

/** The answer to one turn, with the prompt, times and tokens behind it. */
export interface ChatResponse {
  /** The answer as a reader sees it, behind the prefix that the model was given; `trace.answer.text` is what it generated. */
  readonly text: string;
  /** The memories that stand in the sequence, in the order in which they stand there. */
  readonly memoriesUsed: readonly MemorySearchResult[];
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly metadata: { readonly injectionMode: string };
  readonly promptInfo: PromptInfo;
  readonly timings: Timings;
  readonly tokens: TokenCounts;
  /** The turn as the system made it: claims that the runner compares with its own observations. */
  readonly trace: TurnTrace;
}

/** One turn as its system made it. */
export interface TurnTrace {
  /** Best first, before selection. */
  readonly retrieved: readonly MemorySearchResult[];
  readonly retrieval: RetrievalRecord | null;
  /** Text of the retriever's own summary; missing where it made none. */
  readonly summary?: string;
  readonly prefill: PrefillRecord | null;
  readonly account: TurnAccount;
  /** The factors of the gate; null without one. */
  readonly gating: Readonly<Record<string, unknown>> | null;
  /** The tokens that were evaluated behind the prefix: the end of the prompt. */
  readonly suffix: readonly TokenId[];
  /** The way in which the prompt opens the answer: its form, and the prefix that the model was given. */
  readonly opening: AnswerOpening;
  /** Positions of the session in front of the suffix: where scoring begins again. */
  readonly prefixPositions: number;
  /** The prompt's tokens, as the session holds them after the turn. */
  readonly sessionTokens: readonly TokenId[];
  readonly answer: AnswerRecord;
}

/** Counts and settings of a system, for people to read. */
export interface SystemStats {
  /** Turns, and changes of what is kept, that wait and that run at this moment. */
  readonly turns: { readonly waiting: number; readonly running: number };
  readonly router: Readonly<Record<string, unknown>>;
  readonly model: Readonly<Record<string, unknown>> | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly kvStore?: Readonly<Record<string, unknown>>;
}

/** Nothing retrieved. */
export const nothingRetrieved: RetrievedMemories = { memories: [], elapsedMs: 0, record: null };
