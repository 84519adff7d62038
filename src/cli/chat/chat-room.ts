import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import { didYouMean } from '../../config/nearest-name.ts';
import type { BenchDatabase } from '../../db/database.ts';
import type { Arm } from '../../eval/run/arms.ts';
import { BenchParts, openRunRetriever, StoreFolder, systemParts } from '../../eval/run/open-bench.ts';
import { openRuns } from '../../eval/run/suite-run.ts';
import { likeliest } from '../../eval/run/turn-evidence.ts';
import type { InspectedTurn } from '../../inspect/stored-turn.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import type { ChatRequest, ChatResponse } from '../../systems/contracts.ts';
import { DatabaseConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { chatArm, chatView, requireUsable } from './chat-arm.ts';
import { type ChatTurn, inspectedChatTurn } from './chat-turn.ts';
import { chatSessionId, UserMemories } from './user-memories.ts';

/** Who talks to what. */
export interface ChatSetup {
  readonly arm: string;
  readonly userId: string;
  /** A conversation to go on with, or to begin under that name. Default: a new one. */
  readonly conversation?: string;
}

/** What gives back what was opened, in the order of opening. */
type Closers = readonly (() => unknown)[];

type AnswerHooks = Pick<ChatRequest, 'signal' | 'onText'>;

/** One user in conversation with one arm at a time, over memories that stay from chat to chat. */
export class ChatRoom implements AsyncDisposable {
  readonly userId: string;
  /** Its messages are stored under this id. */
  readonly sessionId: string;
  readonly #memories: UserMemories;
  readonly #config: BenchConfig;
  readonly #parts: BenchParts;
  readonly #stores: StoreFolder;
  readonly #keeper: MemoryKeeper;
  readonly #log: DatabaseConversationLog;
  readonly #closers: Closers;
  #arm: Arm;
  #system: BenchSystem;
  #turns = 0;
  /** The last turn, and once somebody has asked for it, how it is shown. */
  #last: { readonly turn: Omit<ChatTurn, 'nextTokens'>; shown: InspectedTurn | undefined } | undefined;

  private constructor(
    config: BenchConfig,
    setup: ChatSetup,
    arm: Arm,
    opened: {
      readonly parts: BenchParts;
      readonly stores: StoreFolder;
      readonly keeper: MemoryKeeper;
      readonly memories: UserMemories;
      readonly database: BenchDatabase;
      readonly closers: Closers;
    },
  ) {
    this.#config = config;
    this.userId = setup.userId;
    this.sessionId = chatSessionId(setup.userId, setup.conversation ?? new Date().toISOString());
    this.#memories = opened.memories;
    this.#parts = opened.parts;
    this.#stores = opened.stores;
    this.#keeper = opened.keeper;
    this.#log = new DatabaseConversationLog(opened.database);
    this.#closers = opened.closers;
    this.#arm = arm;
    this.#system = this.#open(arm);
  }

  /** @throws BenchError for an arm that cannot chat, and where a model or the database cannot be opened */
  static async open(config: BenchConfig, setup: ChatSetup): Promise<ChatRoom> {
    const arm = chatArm(setup.arm, config);
    const closers: (() => unknown)[] = [];
    try {
      const parts = await BenchParts.open(config, {}, [arm]);
      closers.push(() => parts[Symbol.asyncDispose]());
      reserveFor(parts.model.info.contextTokens, config.reserve);
      await requireUsable(arm, parts, config);
      const database = openRuns(config);
      closers.push(() => database.close());
      const folder = mkdtempSync(join(tmpdir(), 'dki-bench-chat-'));
      closers.push(() => rmSync(folder, { recursive: true, force: true }));
      const stores = new StoreFolder(config, folder);
      const retriever = await openRunRetriever(parts, config, chatSessionId(setup.userId), folder);
      closers.push(() => retriever.close());
      const keeper = new MemoryKeeper(retriever, parts.embeddings, database);
      const { sha256 } = await parts.embeddings.info();
      const memories = new UserMemories(database, keeper, setup.userId, sha256);
      await memories.load();
      return new ChatRoom(config, setup, arm, { parts, stores, keeper, memories, database, closers });
    } catch (error) {
      await closeAll(closers);
      throw error;
    }
  }

  /** The name of the arm that answers. */
  get arm(): string {
    return this.#arm.name;
  }

  /** The memories of the user, given when all K/V is gone of those that another chat of the user has forgotten. */
  get memories(): UserMemories {
    this.#dropGone();
    return this.#memories;
  }

  /** One turn, stored as messages and a line of the audit log. @throws BenchError `context-overflow` for too long a text */
  async ask(query: string, hooks: AnswerHooks = {}): Promise<ChatResponse> {
    const { userId, sessionId } = this;
    // Where this turn fails, what it left behind is no longer that of the one before.
    this.#last = undefined;
    await this.#memories.refresh((memoryId) => this.#dropKv(memoryId));
    const response = await this.#system.chat({ query, sessionId, userId, ...hooks });
    const memories = this.#memories.list().length;
    const turn = { userId, sessionId, arm: this.arm, number: this.#turns++, response, memories };
    this.#last = { turn, shown: undefined };
    return response;
  }

  /**
   * The last turn as the inspector shows it; undefined before the first, behind one that failed, and where a memory of it
   * was forgotten, in whichever chat.
   */
  async lastTurn(): Promise<InspectedTurn | undefined> {
    this.#dropGone();
    const last = this.#last;
    if (last === undefined) return undefined;
    if (last.shown !== undefined) return last.shown;
    await using sequence = this.#parts.model.openSequence();
    const answered = last.turn.response.metadata['answerTokenIds'] as readonly number[];
    const score = await sequence.score(await this.#system.replay(sequence), answered.length > 0 ? [answered[0]!] : [0]);
    const nextTokens = likeliest(this.#parts.model, score.nextProbabilities);
    return (last.shown = inspectedChatTurn({ ...last.turn, nextTokens }));
  }

  /** Goes on with another arm, on the same memories and the same conversation. @throws BenchError for one that cannot chat */
  async switchArm(name: string): Promise<void> {
    const arm = chatArm(name, this.#config);
    await requireUsable(arm, this.#parts, this.#config);
    // What it injected can be replayed by its own system alone.
    await this.lastTurn();
    await this.#system[Symbol.asyncDispose]();
    this.#arm = arm;
    this.#system = this.#open(arm);
  }

  /**
   * Forgets a memory of the user: first all K/V that contains it, of every arm and on every tier, then the memory itself.
   * @returns how many entries of K/V went with it @throws BenchError `not-found`
   */
  async forget(memoryId: string): Promise<number> {
    const known = this.memories.list().map((memory: MemorySearchResult) => memory.memoryId);
    if (!known.includes(memoryId)) {
      const hint = known.length === 0 ? 'there is none' : 'see them all: /memories';
      throw new BenchError('not-found', `there is no memory "${memoryId}"${didYouMean(memoryId, known)}`, hint);
    }
    const entries = this.#dropKv(memoryId);
    await this.#memories.remove(memoryId, entries);
    return entries;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#system[Symbol.asyncDispose]();
    } finally {
      await closeAll(this.#closers);
    }
  }

  /** Deletes all K/V of a memory, of every arm, and the last turn where it showed it; gives the number of entries. */
  #dropKv(memoryId: string): number {
    const entries = this.#system.forgetMemory(this.userId, memoryId) + this.#stores.forgetMemory(this.userId, memoryId);
    const recalled = this.#last?.turn.response.metadata['recalled'] as readonly MemorySearchResult[] | undefined;
    if (recalled?.some((memory) => memory.memoryId === memoryId)) this.#last = undefined;
    return entries;
  }

  #dropGone(): void {
    for (const memoryId of this.#memories.gone()) this.#dropKv(memoryId);
  }

  #open(arm: Arm): BenchSystem {
    const parts = systemParts(this.#parts, this.#config, this.#keeper, this.#log);
    return arm.open(parts, chatView(this.#memories), () => this.#stores.open(arm.name));
  }
}

/** Closes what was opened last first. */
async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.toReversed()) await close();
}
