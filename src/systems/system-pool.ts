import type { BenchSystem } from './memory-system.ts';
import { WHOLE_PROMPT } from './prefill/cached-text-prefill.ts';
import { TurnQueue } from './turn-queue.ts';

/** Several systems of one arm, each with its own session; a turn takes the first free one. They share memories and KV. */
export class SystemPool implements BenchSystem {
  readonly #systems: readonly BenchSystem[];
  readonly #turns: TurnQueue<BenchSystem>;

  private constructor(systems: readonly BenchSystem[]) {
    this.#systems = systems;
    this.#turns = new TurnQueue(systems);
  }

  /** @param open opens one system; `index` counts from 0 @throws RangeError if `size` is below 1 */
  static async open(size: number, open: (index: number) => Promise<BenchSystem>): Promise<SystemPool> {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`sessions is ${size}; it must be at least 1`);
    const systems: BenchSystem[] = [];
    for (let index = 0; index < size; index++) systems.push(await open(index));
    return new SystemPool(systems);
  }

  readonly chat: BenchSystem['chat'] = (request) => {
    const { sessionId, signal, includeHistory = true, history } = request;
    const conversation = includeHistory && history === undefined ? sessionId : undefined;
    return this.#turns.run((system) => system.chat(request), { conversation, signal });
  };

  /** Replacing a memory also deletes its KV from every system. */
  readonly addMemory: BenchSystem['addMemory'] = (sessionId, content, options = {}) => {
    const { memoryId, userId = '' } = options;
    if (memoryId === undefined) return this.#systems[0]!.addMemory(sessionId, content, options);
    return this.#turns.runAlone(async (systems) => {
      await forgetIn(systems, userId, memoryId);
      return systems[0]!.addMemory(sessionId, content, options);
    });
  };

  readonly removeMemory: BenchSystem['removeMemory'] = (sessionId, memoryId, userId) =>
    this.#turns.runAlone(async (systems) => {
      const owner = systems[0]!.memoryOwner(sessionId, memoryId, userId);
      if (owner === undefined) return false;
      for (const id of [memoryId, WHOLE_PROMPT]) await forgetIn(systems, owner.userId ?? '', id);
      return systems[0]!.removeMemory(sessionId, memoryId, owner.userId);
    });

  readonly memoryOwner: BenchSystem['memoryOwner'] = (...memory) => this.#systems[0]!.memoryOwner(...memory);

  readonly forgetMemory: BenchSystem['forgetMemory'] = (userId, memoryId) =>
    this.#turns.runAlone((systems) => forgetIn(systems, userId, memoryId));

  /** Computes the KV in one system; the others find it in the store. */
  readonly prepare: NonNullable<BenchSystem['prepare']> = (userId, memories, options = {}) =>
    this.#turns.run(async (system) => system.prepare?.(userId, memories, options), { signal: options.signal });

  reset(): Promise<void> {
    return this.#turns.runAlone(async (systems) => {
      for (const system of systems) await system.reset();
    });
  }

  readonly loadMemoriesFromDb: BenchSystem['loadMemoriesFromDb'] = (sessionId) =>
    this.#systems[0]!.loadMemoriesFromDb(sessionId);

  readonly searchMemories: BenchSystem['searchMemories'] = (...search) => this.#systems[0]!.searchMemories(...search);

  /** The counts of the disk store cover all systems; the counts of blocks in memory cover the first system only. */
  readonly getStats: BenchSystem['getStats'] = () => {
    const { waiting, running } = this.#turns;
    return { ...this.#systems[0]!.getStats(), turns: { waiting, running } };
  };

  /** Rejects waiting turns, then closes every system when the running turns have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.close();
    for (const system of this.#systems) await system[Symbol.asyncDispose]();
  }
}

/** Returns the number of deleted entries in all systems. */
async function forgetIn(systems: readonly BenchSystem[], userId: string, memoryId: string): Promise<number> {
  let entries = 0;
  for (const system of systems) entries += await system.forgetMemory(userId, memoryId);
  return entries;
}
