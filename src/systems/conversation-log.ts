import { textHash } from '../base/text-hash.ts';
import { AuditLogRepository } from '../store/audit-log-repository.ts';
import { ConversationRepository } from '../store/conversation-repository.ts';
import type { BenchDatabase } from '../store/database.ts';
import type { ConversationRow } from '../store/schema.ts';
import { SessionRepository } from '../store/session-repository.ts';
import type { HistoryMessage } from '../store/records/prompt-info.ts';
import type { Timings, TokenCounts } from '../store/records/turn-record.ts';
import type { ChatRequest, ChatResponse } from './contracts.ts';

/** One turn in the log: two messages and a line of the audit log. */
export interface LogEntry {
  readonly sessionId: string;
  readonly userId: string | undefined;
  readonly query: string;
  readonly answer: string;
  readonly injectionMode: string;
  /** By which the values of injected memories were multiplied; null where none was injected. */
  readonly alpha: number | null;
  readonly memoryIds: readonly string[];
  readonly latencyMs: number;
  readonly action: 'rag_generate' | 'dki_generate';
  readonly timings: Timings;
  readonly tokens: TokenCounts;
}

/** The entry of a turn in the conversation log. */
export function logEntry(request: ChatRequest, response: ChatResponse, action: LogEntry['action']): LogEntry {
  return {
    sessionId: request.sessionId,
    userId: request.userId,
    query: request.query,
    answer: response.text,
    injectionMode: response.metadata.injectionMode,
    alpha: response.trace.prefill?.alpha ?? null,
    memoryIds: response.memoriesUsed.map((memory) => memory.memoryId),
    latencyMs: response.latencyMs,
    action,
    timings: response.timings,
    tokens: response.tokens,
  };
}

/** The conversation so far, read and written by a system. */
export interface ConversationLog {
  /** The messages of a session in order of time: all, or the newest so many. */
  history(sessionId: string, maxMessages?: number): readonly HistoryMessage[];
  /** Writes the whole turn or nothing. */
  record(turn: LogEntry): void;
}

/** A text as it is compared: neither case nor white space counts, nor the end of its sentence. */
function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!?。！？]+$/, '');
}

/** The messages of a session, from one question to the next. */
function turnsOf(messages: readonly ConversationRow[]): ConversationRow[][] {
  const turns: ConversationRow[][] = [];
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([message]);
    else turns.at(-1)!.push(message);
  }
  return turns;
}

/** A log in the tables `sessions`, `conversations` and `audit_logs`; one transaction a turn. */
export class DatabaseConversationLog implements ConversationLog {
  readonly #database: BenchDatabase;
  readonly #sessions: SessionRepository;
  readonly #conversations: ConversationRepository;
  readonly #audit: AuditLogRepository;
  readonly #runId: string | undefined;
  readonly #stored: (text: string) => string;

  /**
   * @param runId the run that its sessions belong to, where there is one
   * @param options `storesTexts: false`: hashes are stored in place of messages
   */
  constructor(
    database: BenchDatabase,
    runId?: string,
    { storesTexts = true }: { readonly storesTexts?: boolean } = {},
  ) {
    this.#database = database;
    this.#sessions = new SessionRepository(database);
    this.#conversations = new ConversationRepository(database);
    this.#audit = new AuditLogRepository(database);
    this.#runId = runId;
    this.#stored = storesTexts ? (text) => text : textHash;
  }

  history(sessionId: string, maxMessages?: number): HistoryMessage[] {
    return this.#conversations
      .getRecent(sessionId, maxMessages)
      .flatMap(({ role, content }) => (role === 'system' ? [] : [{ role, content }]));
  }

  record(turn: LogEntry): void {
    this.#database.transaction(() => {
      this.#openSession(turn.sessionId, turn.userId);
      this.#conversations.create({ sessionId: turn.sessionId, role: 'user', content: this.#stored(turn.query) });
      this.#conversations.create({
        sessionId: turn.sessionId,
        role: 'assistant',
        content: this.#stored(turn.answer),
        injectionMode: turn.injectionMode,
        injectionAlpha: turn.alpha,
        memoryIds: turn.memoryIds,
        latencyMs: turn.latencyMs,
        tokens: turn.tokens,
      });
      this.#audit.log({
        action: turn.action,
        sessionId: turn.sessionId,
        memoryIds: turn.memoryIds,
        alpha: turn.alpha,
        mode: turn.injectionMode,
        metadata: { timings: turn.timings, tokens: turn.tokens },
      });
    });
  }

  /**
   * Deletes every turn, question and answer, that was answered with a memory or says its text, from the sessions whose ids
   * begin so; gives the number of messages. What tells the memory in other words stays.
   */
  forget(
    sessionPrefix: string,
    { memoryId, content }: { readonly memoryId: string; readonly content: string },
  ): number {
    const secret = comparable(content);
    const tells = ({ memoryIds, content: text }: ConversationRow): boolean =>
      memoryIds?.includes(memoryId) === true || (secret !== '' && comparable(text).includes(secret));
    return this.#database.transaction(() => {
      const bySession = Map.groupBy(this.#conversations.getByPrefix(sessionPrefix), ({ sessionId }) => sessionId);
      const told = [...bySession.values()].flatMap(turnsOf).filter((turn) => turn.some(tells));
      const ids = told.flat().map(({ id }) => id);
      this.#conversations.delete(ids);
      return ids.length;
    });
  }

  /** Writes messages that were said before the first turn. */
  seed(sessionId: string, userId: string | undefined, messages: readonly HistoryMessage[]): void {
    this.#database.transaction(() => {
      this.#openSession(sessionId, userId);
      for (const { role, content } of messages) {
        this.#conversations.create({ sessionId, role, content: this.#stored(content) });
      }
    });
  }

  #openSession(sessionId: string, userId: string | undefined): void {
    this.#sessions.getOrCreate(sessionId, {
      ...(userId === undefined ? {} : { userId }),
      ...(this.#runId === undefined ? {} : { runId: this.#runId }),
    });
  }
}
