import { memoize } from '../base/memoize.ts';
import type { EngineSession } from '../engine/engine-session.ts';
import { meterDifference } from '../engine/token-meter.ts';
import type { MemorySearchResult, SearchOptions } from '../retrieval/retriever.ts';
import { type Ahead, answerTurn, type OpenTurn, type SystemParts, type TurnParts } from './answer-turn.ts';
import type {
  AddMemoryOptions,
  BenchSystem,
  ChatRequest,
  ChatResponse,
  MemoryText,
  PrepareOptions,
  SystemStats,
} from './memory-system.ts';
import { WHOLE_PROMPT } from './prefill/cached-text-prefill.ts';
import { openPromptForm } from './prompt/chat-form.ts';
import { memorySegment } from './prompt/memory-lines.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import { type MemoryLines, turnTexts } from './prompt/build-prompt.ts';
import { RetrievalCounts } from './retrieval-counts.ts';
import { TurnQueue } from './turn-queue.ts';

export interface SingleSessionParts extends Omit<TurnParts, 'retrievals'>, Pick<SystemParts, 'retrievals'> {
  /** False: the strategy stores no KV, so forgetting a memory need not open the engine. */
  readonly storesKv: boolean;
  /** Computes a memory's blocks when it is added. Default false. */
  readonly ahead?: boolean;
  /** Settings for display, returned by `getStats`. */
  readonly config: SystemStats['config'];
}

/** The queue of a session, shared by all systems that use the session: only one may work in it at a time. */
const sessionQueue = memoize<EngineSession, TurnQueue>(() => new TurnQueue([undefined]));

/** A system with one session, opened when first needed. Turns and changes of memories and KV run one at a time. */
export class SingleSessionSystem implements BenchSystem {
  readonly #parts: SingleSessionParts & TurnParts;
  readonly #turns = new TurnQueue([undefined]);
  readonly #prepared = new Set<string>();
  #opening: Promise<OpenTurn> | undefined;
  #opened: OpenTurn | undefined;
  #ahead: Ahead | undefined;

  constructor(parts: SingleSessionParts) {
    this.#parts = { ...parts, retrievals: parts.retrievals ?? new RetrievalCounts() };
  }

  /** Answers after all earlier turns. @throws the signal's reason if aborted, BenchError `no-session` if closed */
  chat(request: ChatRequest): Promise<ChatResponse> {
    const { signal } = request;
    return this.#turns.run(
      async () => {
        const opened = await this.#open();
        const answer = () => answerTurn(opened, this.#parts, request, this.#ahead);
        const response = await sessionQueue(opened.session).run(answer, { signal });
        this.#ahead = undefined;
        return response;
      },
      { signal },
    );
  }

  /** Replacing a memory also deletes all KV that contains the old one. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    const { memories, ahead = false } = this.#parts;
    const { userId = '', memoryId } = options;
    this.#turns.requireOpen();
    if (memoryId === undefined && !ahead) return memories.add(sessionId, content, options);
    return this.#turns.runAlone(async () => {
      if (memoryId !== undefined) await this.#forget(userId, memoryId);
      const id = await memories.add(sessionId, content, options);
      // Again: until it is replaced, another process may use it.
      if (memoryId !== undefined) await this.#forget(userId, memoryId);
      if (ahead) await this.#prepareNew(userId, [{ memoryId: id, content }], {});
      return id;
    });
  }

  removeMemory(sessionId: string, memoryId: string, userId?: string): Promise<boolean> {
    return this.#turns.runAlone(async () => {
      const { memories, log } = this.#parts;
      const owned = memories.owned(sessionId, memoryId, userId);
      if (owned === undefined) return false;
      const owner = owned.userId ?? '';
      const forget = async (): Promise<void> => {
        for (const id of [memoryId, WHOLE_PROMPT]) await this.#forget(owner, id);
        if (owned.row !== undefined) log?.forget(owned.userId, { memoryId, content: owned.row.content });
      };
      await forget();
      // Again: until the memory is gone, another process may use it.
      return memories.remove(sessionId, memoryId, owned.userId).finally(forget);
    });
  }

  memoryOwner(...memory: Parameters<BenchSystem['memoryOwner']>): ReturnType<BenchSystem['memoryOwner']> {
    return this.#parts.memories.owned(...memory);
  }

  async loadMemoriesFromDb(sessionId: string): Promise<number> {
    this.#turns.requireOpen();
    return this.#parts.memories.load(sessionId);
  }

  async searchMemories(query: string, options: SearchOptions = {}): Promise<readonly MemorySearchResult[]> {
    this.#turns.requireOpen();
    const { memories, topK, threshold } = this.#parts;
    return (await memories.retrieveStored(query, { topK, threshold, ...options })).memories;
  }

  /** The model is null before the first turn. */
  getStats(): SystemStats {
    const { memories, config } = this.#parts;
    const { waiting, running } = this.#turns;
    const kvStore = this.#opened?.strategy.stats() ?? null;
    return {
      router: memories.stats(),
      config,
      turns: { waiting, running },
      model: this.#opened === undefined ? null : { ...this.#opened.engine.info },
      ...(kvStore === null ? {} : { kvStore }),
    };
  }

  forgetMemory(userId: string, memoryId: string): Promise<number> {
    return this.#turns.runAlone(() => this.#forget(userId, memoryId));
  }

  /** Computes the blocks of memories that were not prepared before; does nothing unless `ahead` is set. */
  async prepare(userId: string, memories: readonly MemoryText[], options: PrepareOptions = {}): Promise<void> {
    if (this.#parts.ahead !== true) return;
    await this.#turns.runAlone(() => this.#prepareNew(userId, memories, options), { signal: options.signal });
  }

  reset(): Promise<void> {
    return this.#turns.runAlone(async () => {
      this.#prepared.clear();
      this.#ahead = undefined;
      this.#parts.retrievals.clear();
      await this.#opened?.strategy.reset();
    });
  }

  /** Closes the system: the running turn ends, waiting turns reject. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.close();
    this.#opened?.strategy.dispose?.();
    this.#opened = undefined;
  }

  async #forget(userId: string, memoryId: string): Promise<number> {
    this.#parts.retrievals.forget(userId, memoryId);
    if (!this.#parts.storesKv) return 0;
    // Forget what was prepared: the next `prepare` looks every memory up again, and finds the KV that is still stored.
    this.#prepared.clear();
    return (await this.#open()).strategy.forget(userId, memoryId);
  }

  async #open(): Promise<OpenTurn> {
    this.#opening ??= this.#openParts();
    try {
      this.#opened = await this.#opening;
      return this.#opened;
    } catch (error) {
      // The next turn tries again.
      this.#opening = undefined;
      throw error;
    }
  }

  async #openParts(): Promise<OpenTurn> {
    const { rules, open, openStrategy } = this.#parts;
    const opened = await open();
    const form = await openPromptForm(rules.template, opened.engine);
    return { ...opened, form, strategy: await openStrategy(opened) };
  }

  async #prepareNew(userId: string, memories: readonly MemoryText[], options: PrepareOptions): Promise<void> {
    const key = ({ memoryId, content }: MemoryText): string => JSON.stringify([userId, memoryId, content]);
    const added = memories.filter((memory) => !this.#prepared.has(key(memory)));
    if (added.length === 0) return;
    const opened = await this.#open();
    const { session, strategy } = opened;
    if (strategy.prepare === undefined) return;
    const { signal } = options;
    const lines = await precomputedLines(opened, this.#parts, added, options);
    const compute = async (): Promise<void> => {
      const start = performance.now();
      const before = await session.meter();
      const chargedMs = await strategy.prepare!(lines, { session, userId, alpha: 1, signal });
      const { evaluated } = meterDifference(await session.meter(), before);
      const { tokens, ms } = this.#ahead ?? { tokens: 0, ms: 0 };
      this.#ahead = { tokens: tokens + (evaluated ?? 0), ms: ms + chargedMs + performance.now() - start };
    };
    await sessionQueue(session).run(compute, { signal });
    for (const memory of added) this.#prepared.add(key(memory));
  }
}

/**
 * Tokenises every line that a memory may become in later prompts: with numbered labels, one for each of `topK` places. Omits
 * lines that do not fit the window.
 */
function precomputedLines(
  { engine, form }: OpenTurn,
  { rules, topK }: Pick<SystemParts, 'rules' | 'topK'>,
  memories: readonly MemoryText[],
  options: PrepareOptions,
): Promise<MemoryLines> {
  const { labels } = rules;
  // The query only serves to detect the language.
  const texts = turnTexts({ query: memories[0]!.content, ...options }, rules);
  const places = Array.from({ length: labels === 'bullet' ? 1 : topK }, (_, index) => index + 1);
  const lines = memories.flatMap(({ memoryId, content }) =>
    places.map((place) => memorySegment(memoryId, content, place, labels)),
  );
  const tokenizer = new PromptTokenizer(engine);
  return tokenizer.settle(() => {
    const segments = tokenizer.tokenize(form.segments({ ...texts, lines, history: [], query: '', answerPrefix: '' }));
    const first = segments.findIndex(({ memoryId }) => memoryId !== undefined);
    const header = segments.slice(0, first).flatMap(({ tokenIds }) => tokenIds);
    const leftTokens = engine.info.contextTokens - header.length;
    return {
      header,
      lines: segments.flatMap(({ memoryId, tokenIds }) =>
        memoryId !== undefined && tokenIds.length < leftTokens ? [{ memoryId, tokenIds }] : [],
      ),
    };
  });
}
