import type { MemorySearchResult } from '../memory/memory-search-result.ts';
import type { HistoryMessage, Segment } from './prompt/segments.ts';

/** One answer to "what to recall?" and "how to hand it over?". */
export interface MemorySystem {
  /** Answers one query of one user. @throws BenchError `context-overflow` where the query alone is too long */
  chat(request: ChatRequest): Promise<ChatResponse>;
  /** Stores a memory, embedded and indexed; returns its id. An id that exists is replaced. */
  addMemory(sessionId: string, content: string, options?: AddMemoryOptions): Promise<string>;
  /** Puts the memories that the database holds for a session into the index; returns how many. */
  loadMemoriesFromDb(sessionId: string): Promise<number>;
  /** Recall alone, without an answer. */
  searchMemories(query: string, options?: SearchOptions): Promise<readonly MemorySearchResult[]>;
  getStats(): SystemStats;
}

export interface AddMemoryOptions {
  readonly userId?: string;
  readonly memoryId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface SearchOptions {
  readonly userId?: string;
  readonly topK?: number;
  readonly threshold?: number;
}

export interface ChatRequest {
  readonly query: string;
  readonly sessionId: string;
  readonly userId?: string;
  readonly topK?: number;
  readonly systemPrompt?: string;
  readonly maxNewTokens?: number;
  readonly temperature?: number;
  /** Default true. */
  readonly includeHistory?: boolean;
  /** A turn is one message of the user and its answer. Default 10. */
  readonly maxHistoryTurns?: number;
  /** Ends the answer behind the token that is being made; what there is of it is the answer. */
  readonly signal?: AbortSignal;
  /** Told after every token what there is of the answer so far. */
  readonly onText?: (text: string) => void;
}

export interface ChatResponse {
  readonly text: string;
  /** The memories that stand in the sequence, in the order in which they stand there. */
  readonly memoriesUsed: readonly MemorySearchResult[];
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly promptInfo: PromptInfo;
  readonly timings: Timings;
  readonly tokens: TokenCounts;
}

/** The prompt as the model saw it, and why it is so (seed 004 §2.1, and the budget behind it). */
export interface PromptInfo {
  readonly originalQuery: string;
  readonly systemPrompt: string;
  readonly retrievedContext: string;
  readonly historyText: string;
  readonly historyMessages: readonly HistoryMessage[];
  readonly finalPrompt: string;
  readonly segments: readonly PromptSegment[];
  readonly budget: Budget;
}

/** A segment of the final sequence with its token ids and where its K/V came from. */
export interface PromptSegment extends Segment {
  readonly tokenIds: readonly number[];
  readonly origin: 'evaluated' | 'injected';
}

/** How the window was spent, in tokens. */
export interface Budget {
  readonly windowTokens: number;
  readonly reserveTokens: number;
  /** BOS, system prompt, query and footer. */
  readonly fixedTokens: number;
  readonly memoryLimitTokens: number;
  readonly memoryTokens: number;
  readonly historyTokens: number;
  /** Tokens at a position that another token has as well: they take a cell, and no position. */
  readonly sharedTokens: number;
  /** Positions left. */
  readonly freeTokens: number;
  readonly dropped: readonly DroppedPart[];
  /** Everything but the query was given up (seed 004 §4.4). */
  readonly forced: boolean;
  readonly warnings: readonly string[];
}

/** What did not make it into the sequence, and the rule that dropped it. */
export interface DroppedPart {
  readonly part: 'memory' | 'history' | 'system';
  readonly id: string;
  readonly tokens: number;
  readonly rule: 'memory-budget' | 'history-budget' | 'forced-truncation';
}

/** Milliseconds. `firstToken` runs from the call of `chat` to the first token; the rest are parts of `total`. */
export interface Timings {
  readonly retrieve: number;
  readonly assemble: number;
  readonly gate: number;
  readonly kvLoad: number;
  readonly kvCompute: number;
  readonly prefill: number;
  readonly firstToken: number;
  readonly decode: number;
  readonly total: number;
}

/** The four columns of every table, and positions where they differ from cells. */
export interface TokenCounts {
  /** Given as text. */
  readonly prompt: number;
  /** Cells filled by injected K/V. */
  readonly kvResident: number;
  /** Run through the model in this turn, by its own meter. */
  readonly evaluated: number;
  readonly generated: number;
  /** Positions that the prompt takes; equal to cells unless blocks share positions. */
  readonly positions: number;
}

export interface SystemStats {
  readonly router: Readonly<Record<string, unknown>>;
  readonly model: Readonly<Record<string, unknown>> | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly kvStore?: Readonly<Record<string, unknown>>;
}
