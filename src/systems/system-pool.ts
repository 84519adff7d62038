import type { MemorySearchResult } from '../retrieval/memory-search-result.ts';
import type {
  AddMemoryOptions,
  BenchSystem,
  ChatRequest,
  ChatResponse,
  MemorySystem,
  SearchOptions,
  SystemStats,
} from './contracts.ts';

/**
 * Several systems of one arm, each with a session of its own, behind one face: a turn takes the first that is free, others
 * wait in the order in which they came. They share memories and K/V store.
 */
export class SystemPool implements MemorySystem, AsyncDisposable {
  readonly #systems: readonly BenchSystem[];
  readonly #free: BenchSystem[];
  readonly #waiting: ((system: BenchSystem) => void)[] = [];

  private constructor(systems: readonly BenchSystem[]) {
    this.#systems = systems;
    this.#free = [...systems];
  }

  /** @param open opens the system of a place, from 0 @throws RangeError for fewer than one */
  static async open(size: number, open: (place: number) => Promise<BenchSystem>): Promise<SystemPool> {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`sessions is ${size}: one at least`);
    const systems: BenchSystem[] = [];
    for (let place = 0; place < size; place++) systems.push(await open(place));
    return new SystemPool(systems);
  }

  chat(request: ChatRequest): Promise<ChatResponse> {
    return this.#withFree((system) => system.chat(request));
  }

  /** Replacing a memory waits for the turns under way, and deletes its K/V from every system before it returns. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    const { memoryId, userId = '' } = options;
    if (memoryId !== undefined) {
      const all = await Promise.all(this.#systems.map(() => this.#take()));
      try {
        for (const system of all) await system.forgetMemory(userId, memoryId);
      } finally {
        for (const system of all) this.#giveBack(system);
      }
    }
    return this.#withFree((system) => system.addMemory(sessionId, content, options));
  }

  loadMemoriesFromDb(sessionId: string): Promise<number> {
    return this.#systems[0]!.loadMemoriesFromDb(sessionId);
  }

  searchMemories(query: string, options?: SearchOptions): Promise<readonly MemorySearchResult[]> {
    return this.#systems[0]!.searchMemories(query, options);
  }

  /** Counts of the store are those of all systems together; blocks in memory are those of the first. */
  getStats(): SystemStats {
    return this.#systems[0]!.getStats();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const system of this.#systems) await system[Symbol.asyncDispose]();
  }

  async #withFree<T>(work: (system: BenchSystem) => Promise<T>): Promise<T> {
    const system = await this.#take();
    try {
      return await work(system);
    } finally {
      this.#giveBack(system);
    }
  }

  async #take(): Promise<BenchSystem> {
    return this.#free.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  #giveBack(system: BenchSystem): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(system);
    else next(system);
  }
}
