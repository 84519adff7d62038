import type { CallOptions } from '../engine/engine-session.ts';
import { meterDifference } from '../engine/token-meter.ts';
import { type Ahead, answerTurn, type OpenTurn, type TurnParts } from './answer-turn.ts';
import type { ChatRequest, ChatResponse, PrepareOptions, SystemStats } from './contracts.ts';
import { promptFormOf } from './prompt/chat-form.ts';
import { precomputedLines, type MemoryText } from './prompt/memory-lines.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import { systemPromptFor } from './prompt/system-prompt.ts';
import { turnsIn } from './session-turns.ts';
import { TurnQueue } from './turn-queue.ts';

/** The KV that a system keeps, while none of its turns runs. */
export interface KeptKv {
  /** Deletes all KV that contains a memory of the user; gives the number of entries. */
  forget(userId: string, memoryId: string): Promise<number>;
  /** Computes KV that turns which show one of these memories will look for; the next turn's account says what it took. */
  prepare(userId: string, memories: readonly MemoryText[], options?: PrepareOptions): Promise<void>;
  /** Deletes all that was kept so far. */
  reset(): Promise<void>;
}

/**
 * The one way into a session for a system: its turns, one at a time, and between them the changes of the KV that it keeps.
 * Engine and strategy are opened by the first that needs them.
 */
export class TurnPipeline {
  readonly #parts: TurnParts;
  readonly #turns = new TurnQueue([undefined]);
  readonly #kept: KeptKv = {
    forget: async (userId, memoryId) => (await this.#open()).strategy.forget(userId, memoryId),
    prepare: (userId, memories, options) => this.#prepare(userId, memories, options),
    reset: async () => this.#opened?.strategy.reset(),
  };
  #opening: Promise<OpenTurn> | undefined;
  #opened: OpenTurn | undefined;
  #ahead: Ahead | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Answers when the turns before have ended. @throws the signal's reason, BenchError `no-session` once it is closed */
  run(request: ChatRequest): Promise<ChatResponse> {
    const { signal } = request;
    return this.#turns.run(
      async () => {
        const opened = await this.#open();
        const answer = () => answerTurn(opened, this.#parts, request, this.#ahead);
        const response = await turnsIn(opened.session).run(answer, { signal });
        this.#ahead = undefined;
        return response;
      },
      { signal },
    );
  }

  /** Works on what is kept while no turn runs, so that no turn sees half of it. */
  betweenTurns<T>(work: (kept: KeptKv) => Promise<T>, { signal }: CallOptions = {}): Promise<T> {
    return this.#turns.runAlone(() => work(this.#kept), { signal });
  }

  /** The turns of this moment, the model, and the counts of the KV store where there is one; no model before the first turn. */
  stats(): Pick<SystemStats, 'turns' | 'model' | 'kvStore'> {
    const { waiting, running } = this.#turns;
    const turns = { waiting, running };
    if (this.#opened === undefined) return { turns, model: null };
    const { engine, strategy } = this.#opened;
    const kvStore = strategy.stats();
    return { turns, model: { ...engine.info }, ...(kvStore === null ? {} : { kvStore }) };
  }

  /** Refuses the turns that wait, and gives memory back when the one under way has ended. */
  async dispose(): Promise<void> {
    await this.#turns.close();
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.strategy.dispose();
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
    const { rules } = this.#parts;
    const opened = await this.#parts.open();
    const form = await promptFormOf(rules.template, opened.engine, rules.memoryHeader);
    return { ...opened, form, strategy: await this.#parts.openStrategy(opened) };
  }

  async #prepare(userId: string, memories: readonly MemoryText[], options: PrepareOptions = {}): Promise<void> {
    const { signal } = options;
    const { engine, session, form, strategy } = await this.#open();
    if (strategy.prepare === undefined) return;
    const { rules, topK } = this.#parts;
    const lines = await precomputedLines(
      memories,
      {
        form,
        systemPrompt: systemPromptFor({ query: memories[0]?.content ?? '', ...options }, rules),
        labels: rules.labels,
        places: topK,
        windowTokens: engine.info.contextTokens,
      },
      new PromptTokenizer(engine),
    );
    await turnsIn(session).run(
      async () => {
        const start = performance.now();
        const before = await session.meter();
        await strategy.prepare!(lines, { session, userId, alpha: 1, signal });
        const { evaluated } = meterDifference(await session.meter(), before);
        const { tokens, ms } = this.#ahead ?? { tokens: 0, ms: 0 };
        this.#ahead = { tokens: tokens + (evaluated ?? 0), ms: ms + performance.now() - start };
      },
      { signal },
    );
  }
}
