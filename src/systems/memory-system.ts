import type { Language } from '../base/language.ts';
import type { CallOptions } from '../engine/engine-session.ts';
import type { TokenId } from '../engine/token-id.ts';
import type { MemorySearchResult, RetrievalSummary, SearchOptions } from '../retrieval/retriever.ts';
import type { HistoryMessage, PromptInfo } from '../store/records/prompt-info.ts';
import type { PrefillRecord } from '../store/records/prefill-record.ts';
import type { AnswerRecord, RetrievalRecord, Timings, TokenCounts, TurnAccount } from '../store/records/turn-record.ts';
import type { AnswerOpening } from './prompt/answer-scoring-positions.ts';

/**
 * A system that answers its users with the help of memories. Calls may be concurrent: if no session is free, turns wait in
 * the order of arrival. Turns of one conversation run one after another, and no memory is replaced or removed while a turn
 * runs. When the system is closed, waiting calls reject with BenchError `no-session`.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'dki' });
 * await system.addMemory('session-1', 'I live in Lyon.', { userId: 'ada' });
 * const { text, timings } = await system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
 */
export interface MemorySystem {
  /** Answers one query of one user. @throws BenchError `context-overflow` if the query alone is too long */
  chat(request: ChatRequest): Promise<ChatResponse>;
  /** Embeds, stores and indexes a memory; returns its id. Replaces the memory that has this id, if there is one. */
  addMemory(sessionId: string, content: string, options?: AddMemoryOptions): Promise<string>;
  /**
   * Removes a memory, all KV that contains it, and its user's logged turns that used it or contain its text. All of this is
   * done when the call returns. Without `userId`, the owner is read from the stored memory. Returns false if the user has no
   * such memory in the session; then at most KV under that id is deleted.
   */
  removeMemory(sessionId: string, memoryId: string, userId?: string): Promise<boolean>;
  /** Makes the index equal to the session's memories in the database; returns how many there are. */
  loadMemoriesFromDb(sessionId: string): Promise<number>;
  /** Retrieves without answering. */
  searchMemories(query: string, options?: SearchOptions): Promise<readonly MemorySearchResult[]>;
  /** Current counts and settings. */
  getStats(): SystemStats;
}

/** A memory system as the bench and the command line run it. */
export interface BenchSystem extends MemorySystem, AsyncDisposable {
  /** The owner of a session's memory; undefined if the memory belongs to another user than `userId`. */
  memoryOwner(
    sessionId: string,
    memoryId: string,
    userId?: string,
  ): { readonly userId: string | undefined } | undefined;
  /** Deletes all KV that contains a memory of the user, and returns the number of deleted entries. */
  forgetMemory(userId: string, memoryId: string): Promise<number>;
  /**
   * Computes the KV of memories before any turn needs it. Neither its time nor its tokens count in a turn; the next response
   * reports them separately, as `trace.account.ahead`. Missing if the system cannot do it.
   */
  prepare?(userId: string, memories: readonly MemoryText[], options?: PrepareOptions): Promise<void>;
  /** Deletes all stored KV, and forgets how often memories were retrieved. */
  reset(): Promise<void>;
}

/** What the prompts of later turns will contain, so that precomputed KV fits them. */
export type PrepareOptions = CallOptions & Pick<ChatRequest, 'systemPrompt' | 'language'>;

export type MemoryText = Pick<MemorySearchResult, 'memoryId' | 'content'>;

/** Owner, id and metadata of a new memory. */
export interface AddMemoryOptions {
  readonly userId?: string;
  readonly memoryId?: string;
  /**
   * For example `createdAt` (ISO 8601, default: now), or `preference: true` for a preference, which `dki-hybrid` injects in
   * every turn.
   */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Memories that were retrieved for a turn, best first, and the time that it took. */
export interface RetrievedMemories {
  readonly memories: readonly MemorySearchResult[];
  /** Part of the turn's time to first token. */
  readonly elapsedMs: number;
  /** Null if no retriever was used. */
  readonly record: RetrievalRecord | null;
  /** The retriever's summary, if it makes one. */
  readonly summary?: RetrievalSummary;
  /** Ids of retrieved memories that another process has removed or replaced: KV of their old texts is deleted. */
  readonly outdated?: readonly string[];
}

/** The request for one turn: the query, and optional settings and content. */
export interface ChatRequest {
  readonly query: string;
  readonly sessionId: string;
  readonly userId?: string;
  readonly topK?: number;
  /** Empty: no system message. Default: the text of the prompt rules, in the user's language. */
  readonly systemPrompt?: string;
  /** The user's language. Default: detected from the query. */
  readonly language?: Language;
  /** Beginning of the answer to this question. Used only if the prompt rules take the prefix of each item. */
  readonly answerPrefix?: string;
  /** Limited, with a warning, to the tokens that the prompt reserves for the answer. Default 48. */
  readonly maxNewTokens?: number;
  readonly temperature?: number;
  /** Default true. */
  readonly includeHistory?: boolean;
  /** Maximum turns of history in the prompt (a user message and its answer each). Default: as many as fit the budget. */
  readonly maxHistoryTurns?: number;
  /** Memories that the caller has retrieved. Default: the system retrieves them itself. */
  readonly retrieved?: RetrievedMemories;
  /** The conversation so far, oldest message first. Default: the session's messages in the database. */
  readonly history?: readonly HistoryMessage[];
  /** The user's preferences, for a system that injects only preferences. Default: those in the table `user_preferences`. */
  readonly preferences?: readonly MemorySearchResult[];
  /**
   * Ends the answer after the current token; the text so far becomes the answer. If the turn is still waiting or computing
   * KV, the call rejects with the signal's reason.
   */
  readonly signal?: AbortSignal;
  /** Called after every token with the answer so far, including its prefix. */
  readonly onText?: (text: string) => void;
}

/** The answer to one turn, with the prompt, times and tokens behind it. */
export interface ChatResponse {
  /** The answer including the prefix that the model was given. Without the prefix: `trace.answer.text`. */
  readonly text: string;
  /** The memories in the prompt, in prompt order. */
  readonly memoriesUsed: readonly MemorySearchResult[];
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly metadata: { readonly injectionMode: string };
  readonly promptInfo: PromptInfo;
  readonly timings: Timings;
  readonly tokens: TokenCounts;
  /** What the system reports about the turn; the runner compares it with its own observations. */
  readonly trace: TurnTrace;
}

/** What a system reports about one turn. */
export interface TurnTrace {
  /** Best first, before selection. */
  readonly retrieved: readonly MemorySearchResult[];
  readonly retrieval: RetrievalRecord | null;
  /** The retriever's summary; missing if it made none. */
  readonly summary?: string;
  readonly prefill: PrefillRecord | null;
  readonly account: TurnAccount;
  /** The factors of the gate's decision; null without a gate. */
  readonly gating: Readonly<Record<string, unknown>> | null;
  /** The end of the prompt: the tokens after the KV prefix. */
  readonly suffix: readonly TokenId[];
  /** The form of the prompt, and the answer prefix at its end. */
  readonly opening: AnswerOpening;
  /** Length of the session before the suffix. Scoring an answer later starts from here. */
  readonly prefixPositions: number;
  /** The prompt's tokens as the session reports them after the turn. */
  readonly sessionTokens: readonly TokenId[];
  readonly answer: AnswerRecord;
}

/** Counts and settings of a system, for display. */
export interface SystemStats {
  /** Turns and exclusive operations that are waiting or running now. */
  readonly turns: { readonly waiting: number; readonly running: number };
  readonly router: Readonly<Record<string, unknown>>;
  readonly model: Readonly<Record<string, unknown>> | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly kvStore?: Readonly<Record<string, unknown>>;
}

export const nothingRetrieved: RetrievedMemories = { memories: [], elapsedMs: 0, record: null };
