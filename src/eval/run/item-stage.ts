import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { ConversationLog, TurnRecord } from '../../systems/conversation-log.ts';
import type { HistoryMessage } from '../../systems/prompt/segments.ts';
import type { Recalled } from '../../systems/recall.ts';
import type { ItemView } from './arms.ts';

/** One item as it is put before every arm: recalled once, with one history. */
export interface StagedItem {
  readonly recalled: Recalled;
  readonly evidence: readonly MemorySearchResult[];
  readonly all: readonly MemorySearchResult[];
  readonly donated: readonly MemorySearchResult[];
  /** What was said before the question: all of it, or what came after the last answer of a conversation. */
  readonly history: readonly HistoryMessage[];
}

/**
 * What stands between the arms and the data: every arm sees the same item, and what an arm says of its turn
 * is held back until the turn was scored and is written whole.
 */
export class ItemStage implements ItemView, ConversationLog {
  #item: StagedItem | undefined;
  #pending: TurnRecord | undefined;
  /** What was said so far in conversations that go on, by session. */
  readonly #conversations = new Map<string, readonly HistoryMessage[]>();

  readonly recall = { search: () => Promise.resolve(this.current.recalled) };
  readonly donated = {
    search: () => {
      const { donated, recalled } = this.current;
      return Promise.resolve({ memories: donated, elapsedMs: recalled.elapsedMs });
    },
  };
  readonly evidence = (): readonly MemorySearchResult[] => this.current.evidence;
  readonly all = (): readonly MemorySearchResult[] => this.current.all;

  put(item: StagedItem): void {
    this.#item = item;
    this.#pending = undefined;
  }

  history(sessionId: string, maxMessages: number): readonly HistoryMessage[] {
    const history = [...(this.#conversations.get(sessionId) ?? []), ...this.current.history];
    return history.slice(Math.max(0, history.length - maxMessages));
  }

  record(turn: TurnRecord): void {
    this.#pending = turn;
  }

  /** What the last turn recorded; undefined where it failed before. */
  takeRecord(): TurnRecord | undefined {
    const record = this.#pending;
    this.#pending = undefined;
    return record;
  }

  /** Goes on with a conversation: what the item brought, its question and its answer are history for the next. */
  goOn(sessionId: string, query: string, answer: string): void {
    const before = this.#conversations.get(sessionId) ?? [];
    const exchange: readonly HistoryMessage[] = [
      { role: 'user', content: query },
      { role: 'assistant', content: answer },
    ];
    this.#conversations.set(sessionId, [...before, ...this.current.history, ...exchange]);
  }

  /** Forgets all conversations. */
  endConversations(): void {
    this.#conversations.clear();
  }

  /** The item that lies before the arms. */
  get current(): StagedItem {
    if (this.#item === undefined) throw new Error('an arm was asked before an item was staged');
    return this.#item;
  }
}
