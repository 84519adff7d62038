import { privateTextHash } from '../base/private-text-hash.ts';
import {
  AuditLogRepository,
  ConversationRepository,
  SessionRepository,
} from '../store/session-and-message-repositories.ts';
import type { BenchDatabase } from '../store/database.ts';
import type { ConversationRow } from '../store/schema.ts';
import type { HistoryMessage } from '../store/records/prompt-info.ts';
import type { ChatRequest, ChatResponse } from './memory-system.ts';

export type LoggedAction = 'rag_generate' | 'dki_generate';

/** Logs conversations in the tables `sessions`, `conversations` and `audit_logs`, one transaction per turn. */
export class ConversationLog {
  readonly #database: BenchDatabase;
  readonly #sessions: SessionRepository;
  readonly #conversations: ConversationRepository;
  readonly #audit: AuditLogRepository;
  readonly #runId: string | undefined;
  readonly #stored: (text: string) => string;

  /**
   * @param runId the run that the sessions belong to, if any
   * @param options `storesTexts: false` stores hashes instead of messages
   */
  constructor(database: BenchDatabase, runId?: string, { storesTexts = true } = {}) {
    this.#database = database;
    this.#sessions = new SessionRepository(database);
    this.#conversations = new ConversationRepository(database);
    this.#audit = new AuditLogRepository(database);
    this.#runId = runId;
    this.#stored = storesTexts ? (text) => text : privateTextHash;
  }

  /** @throws BenchError `no-session` if the session belongs to another user */
  requireOwned(sessionId: string, userId: string | undefined): void {
    this.#sessions.requireOwned(sessionId, userId);
  }

  /** The messages of a session, oldest first: all, or the newest `maxMessages`. */
  history(sessionId: string, maxMessages?: number): HistoryMessage[] {
    const recent = this.#conversations.getRecent(sessionId, maxMessages);
    return recent.flatMap(({ role, content }) => (role === 'system' ? [] : [{ role, content }]));
  }

  /** Writes both messages of a turn and a line of the audit log, in one transaction. */
  record({ sessionId, userId, query }: ChatRequest, response: ChatResponse, action: LoggedAction): void {
    const { text, memoriesUsed, latencyMs, metadata, timings, tokens, trace } = response;
    const memoryIds = memoriesUsed.map(({ memoryId }) => memoryId);
    const mode = metadata.injectionMode;
    const alpha = trace.prefill?.alpha ?? null;
    this.#database.transaction(() => {
      this.#openSession(sessionId, userId);
      this.#conversations.create({ sessionId, role: 'user', content: this.#stored(query) });
      this.#conversations.create({
        sessionId,
        role: 'assistant',
        content: this.#stored(text),
        injectionMode: mode,
        injectionAlpha: alpha,
        memoryIds,
        latencyMs,
        tokens,
      });
      this.#audit.log({ action, sessionId, memoryIds, alpha, mode, metadata: { timings, tokens } });
    });
  }

  /** Deletes all turns of a user, or of no user, that used a memory or contain its text; returns the number of messages. */
  forget(userId: string | undefined, memory: { readonly memoryId: string; readonly content: string }): number {
    const text = normalise(memory.content);
    const mentions = ({ memoryIds, content }: ConversationRow): boolean =>
      memoryIds?.includes(memory.memoryId) === true || (text !== '' && normalise(content).includes(text));
    const deleted = this.#database.transaction(() => {
      const bySession = Map.groupBy(this.#conversations.getByUser(userId, this.#runId), ({ sessionId }) => sessionId);
      const affected = [...bySession.values()].flatMap(turns).filter((turn) => turn.some(mentions));
      const ids = affected.flat().map(({ id }) => id);
      this.#conversations.delete(ids);
      return ids.length;
    });
    this.#database.emptyLog();
    return deleted;
  }

  /** Writes messages from before the first turn. */
  seed(sessionId: string, userId: string | undefined, messages: readonly HistoryMessage[]): void {
    this.#database.transaction(() => {
      this.#openSession(sessionId, userId);
      for (const { role, content } of messages) {
        this.#conversations.create({ sessionId, role, content: this.#stored(content) });
      }
    });
  }

  #openSession(sessionId: string, userId: string | undefined): void {
    this.#sessions.getOrCreate(sessionId, { userId, runId: this.#runId });
  }
}

/** Normalises a text for comparison: case, white space and final punctuation do not count. */
function normalise(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!?。！？]+$/, '');
}

function turns(messages: readonly ConversationRow[]): ConversationRow[][] {
  const result: ConversationRow[][] = [];
  for (const message of messages) {
    if (message.role === 'user' || result.length === 0) result.push([message]);
    else result.at(-1)!.push(message);
  }
  return result;
}
