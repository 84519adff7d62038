import { lastExactCut } from '../../engine/engine-capabilities.ts';
import { BlockMemoryTier } from '../../kv/block-memory-tier.ts';
import { BlockStore, shareMemory } from '../../kv/block-store.ts';
import { simulatedBlocks, SimulatedDisk, type SimulatedKv } from './simulated-disk.ts';
import {
  asText,
  type CacheStats,
  emptyTier,
  nothingLoaded,
  nothingMade,
  prefixTokens,
  type PromptShape,
  type SimulatedArm,
  type SimulatedMachine,
  type TurnAccess,
} from './simulated-turn.ts';

/** An arm that stores KV by content key in memory and on disk. */
abstract class StoredKvArm implements SimulatedArm {
  protected readonly machine: SimulatedMachine;
  readonly #disk: SimulatedDisk;
  readonly #store: BlockStore<SimulatedKv, SimulatedKv>;

  constructor(machine: SimulatedMachine) {
    this.machine = machine;
    this.#disk = new SimulatedDisk(machine.diskBytes, machine.policy);
    const memory = new BlockMemoryTier(shareMemory(machine.memoryBytes).blocks, simulatedBlocks, machine.policy);
    this.#store = new BlockStore(this.#disk, memory, 'when-evicted');
  }

  abstract answer(prompt: PromptShape): Promise<TurnAccess>;

  /** Finds KV and adds it to what the turn loaded; otherwise stores it as just computed. @returns true if it was found */
  protected async use(
    userId: string,
    key: string,
    tokens: number,
    loaded: Pick<TurnAccess, 'memory' | 'disk'>,
  ): Promise<boolean> {
    const found = await this.#store.find(userId, key);
    if (found === undefined) {
      const { kvBytes, fileBytes } = this.machine;
      const kv = { tokens, memoryBytes: kvBytes(tokens), diskBytes: fileBytes(tokens) };
      this.#store.keep({ userId, key, tokens, memoryIds: [] }, kv);
      return false;
    }
    const { state, tier } = found;
    loaded[tier].tokens += tokens;
    loaded[tier].bytes += tier === 'disk' ? state.diskBytes : state.memoryBytes;
    loaded[tier].parts++;
    return true;
  }

  /** Called after the answer. */
  protected settle(): Promise<void> {
    return this.#store.settle();
  }

  stats(): CacheStats {
    // Without memory, KV only passes through it.
    const memory = this.machine.memoryBytes === 0 ? emptyTier : this.#store.stats().memory;
    return { memory, disk: this.#disk.stats() };
  }
}

/** `dki`: header and memories as one prefix, up to the last exact cut. */
export class ExactPrefixArm extends StoredKvArm {
  async answer(prompt: PromptShape): Promise<TurnAccess> {
    const prefix = prefixTokens(prompt);
    const stored = lastExactCut(this.machine.limits, prefix);
    if (prompt.segments.length === 0 || stored === 0) return asText(prompt);
    const loaded = { memory: nothingLoaded(), disk: nothingLoaded() };
    const hit = await this.use(prompt.userId, prefixKey(prompt, stored), stored, loaded);
    await this.settle();
    const suffix = { tokens: prefix - stored + prompt.query.tokens, behind: stored };
    const evaluations = hit ? [suffix] : [{ tokens: stored, behind: 0 }, suffix];
    // A prefix that was computed stays in the session, and is copied after the answer.
    return { evaluations, ...loaded, made: nothingMade, importedBytes: hit ? this.machine.kvBytes(stored) : 0, hit };
  }
}

/** Key of the first tokens of a prefix. If token ids are unknown, a segment that is cut counts as a whole. */
function prefixKey({ header, segments, query }: PromptShape, stored: number): string {
  if (query.tokenIds !== undefined) {
    const tokenIds = [header, ...segments].flatMap((span) => span.tokenIds!);
    return tokenIds.slice(0, stored).join(' ');
  }
  let start = header.tokens;
  const within = segments.filter((segment) => (start += segment.tokens) - segment.tokens < stored);
  return JSON.stringify(within.map(({ id }) => id));
}

/** `dki-blocks`: the header, and each memory as a block of its own, alone or after the previous memory. */
export class BlocksArm extends StoredKvArm {
  readonly #behindPrevious: boolean;

  constructor(machine: SimulatedMachine, behindPrevious: boolean) {
    super(machine);
    this.#behindPrevious = behindPrevious;
  }

  async answer(prompt: PromptShape): Promise<TurnAccess> {
    if (prompt.segments.length === 0) return asText(prompt);
    const loaded = { memory: nothingLoaded(), disk: nothingLoaded() };
    const evaluations: { tokens: number; behind: number }[] = [];
    const made = { ...nothingMade };
    for (const { key, tokens, context, behind } of this.#wanted(prompt)) {
      if (await this.use(prompt.userId, key, tokens, loaded)) continue;
      evaluations.push({ tokens: context + tokens, behind });
      made.bytes += this.machine.kvBytes(tokens);
      made.parts++;
    }
    await this.settle();
    const hit = evaluations.length === 0;
    const behind = prefixTokens(prompt);
    evaluations.push({ tokens: prompt.query.tokens, behind });
    return { evaluations, ...loaded, made, importedBytes: this.machine.kvBytes(behind), hit };
  }

  /** The header and the blocks; `context`: tokens that are evaluated again before a block. */
  #wanted({ header, segments }: PromptShape) {
    const front = header.tokenIds?.join(' ') ?? '';
    const whole = { key: front, tokens: header.tokens, context: 0, behind: 0 };
    const blocks = segments.map(({ id, tokens }, index) => {
      const previous = this.#behindPrevious ? segments[index - 1] : undefined;
      const key = `${front}|${previous?.id ?? ''}|${id}`;
      return { key, tokens, context: previous?.tokens ?? 0, behind: header.tokens };
    });
    return header.tokens === 0 ? blocks : [whole, ...blocks];
  }
}
