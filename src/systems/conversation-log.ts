import { textHash } from '../base/text-hash.ts';
import { AuditLogRepository, ConversationRepository, SessionRepository } from '../store/session-repository.ts';
import type { BenchDatabase } from '../store/database.ts';
import type { ConversationRow } from '../store/schema.ts';
import type { HistoryMessage } from '../store/records/prompt-info.ts';
import type { ChatRequest, ChatResponse } from './memory-system.ts';

export type LoggedAction = 'rag_generate' | 'dki_generate';

/** The conversations of a system, in the tables `sessions`, `conversations` and `audit_logs`; one transaction a turn. */
export class ConversationLog {
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
  constructor(database: BenchDatabase, runId?: string, { storesTexts = true } = {}) {
    this.#database = database;
    this.#sessions = new SessionRepository(database);
    this.#conversations = new ConversationRepository(database);
    this.#audit = new AuditLogRepository(database);
    this.#runId = runId;
    this.#stored = storesTexts ? (text) => text : textHash;
  }

  /** @throws BenchError `no-session` where a session of that id is another user's */
  requireOwned(sessionId: string, userId: string | undefined): void {
    this.#sessions.requireOwned(sessionId, userId);
  }

  /** The messages of a session in order of time: all, or the newest so many. */
  history(sessionId: string, maxMessages?: number): HistoryMessage[] {
    return this.#conversations
      .getRecent(sessionId, maxMessages)
      .flatMap(({ role, content }) => (role === 'system' ? [] : [{ role, content }]));
  }

  /** Writes the two messages of a turn and a line of the audit log, or nothing. */
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

  /** Deletes all turns of a user answered with a memory or saying its text; gives the number of messages. */
  forget(userId: string, memory: { readonly memoryId: string; readonly content: string }): number {
    const secret = comparable(memory.content);
    const tells = ({ memoryIds, content }: ConversationRow): boolean =>
      memoryIds?.includes(memory.memoryId) === true || (secret !== '' && comparable(content).includes(secret));
    return this.#database.transaction(() => {
      const bySession = Map.groupBy(this.#conversations.getByUser(userId, this.#runId), ({ sessionId }) => sessionId);
      const told = [...bySession.values()].flatMap(turns).filter((turn) => turn.some(tells));
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
    this.#sessions.getOrCreate(sessionId, { userId, runId: this.#runId });
  }
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

function turns(messages: readonly ConversationRow[]): ConversationRow[][] {
  const found: ConversationRow[][] = [];
  for (const message of messages) {
    if (message.role === 'user' || found.length === 0) found.push([message]);
    else found.at(-1)!.push(message);
  }
  return found;
}
