import { lastExactCut } from '../../engine/engine-capabilities.ts';
import { BlockStore, shareMemory } from '../../kv/block-store.ts';
import { PrefixTree, type PromptPath } from '../../kv/prefix-tree.ts';
import { RetrievalCounts } from '../retrieval-counts.ts';
import { simulatedBlocks, SimulatedDisk, type SimulatedKv } from './simulated-disk.ts';
import {
  asText,
  type CacheStats,
  emptyTier,
  type LoadedKv,
  noDisk,
  nothingLoaded,
  nothingMade,
  prefixTokens,
  type PromptShape,
  type SimulatedArm,
  type SimulatedMachine,
  type TurnAccess,
} from './simulated-turn.ts';

/** The arms of the bench that can be simulated. */
export const simulatedArmNames = [
  'rag',
  'rag-cached',
  'rag-cached@order=stable',
  'dki',
  'dki@order=stable',
  'dki-blocks',
  'dki-blocks@context=previous',
] as const;
/** A prefix cache that also writes KV to disk, as LMCache and Mooncake do. Only estimated: the bench has no such arm. */
export const prefixCacheWithDisk = 'rag-cached + disk';
export type SimulatedArmName = (typeof simulatedArmNames)[number] | typeof prefixCacheWithDisk;

export function openSimulatedArm(name: SimulatedArmName, machine: SimulatedMachine): SimulatedArm {
  switch (name) {
    case 'rag':
      return textArm;
    case 'rag-cached':
      return new PrefixCacheArm(machine, { hasDisk: false });
    case prefixCacheWithDisk:
      return new PrefixCacheArm(machine, { hasDisk: true });
    case 'dki':
      return new ExactPrefixArm(machine);
    case 'dki-blocks':
      return new BlocksArm(machine, false);
    case 'dki-blocks@context=previous':
      return new BlocksArm(machine, true);
    default:
      return inStableOrder(openSimulatedArm(withoutOrder(name), machine));
  }
}

/** The arm with the same cache. */
export function withoutOrder(name: SimulatedArmName): SimulatedArmName {
  return name.replace('@order=stable', '') as SimulatedArmName;
}

const textArm: SimulatedArm = {
  answer: async (prompt) => asText(prompt),
  stats: () => ({ memory: emptyTier, disk: noDisk }),
};

/** Shows memories by how often they were retrieved before. */
function inStableOrder(arm: SimulatedArm): SimulatedArm {
  const counts = new RetrievalCounts();
  return {
    answer: (prompt) => {
      const byId = Map.groupBy(prompt.segments, ({ id }) => id);
      const retrieved = prompt.segments.map(({ id: memoryId }) => ({ memoryId }));
      const segments = counts.count(prompt.userId, retrieved).flatMap((id) => byId.get(id)!);
      return arm.answer({ ...prompt, segments });
    },
    stats: () => arm.stats(),
  };
}

interface Span {
  readonly tokens: number;
  readonly symbols: readonly number[];
}

function loadedKv(tokens: number, bytesOf: (tokens: number) => number, parts: number): LoadedKv {
  return tokens === 0 ? nothingLoaded() : { tokens, bytes: bytesOf(tokens), parts };
}

/** `rag-cached`: a radix tree of token ids or, if unknown, of a symbol per segment; optionally another on disk. */
class PrefixCacheArm implements SimulatedArm {
  readonly #machine: SimulatedMachine;
  readonly #memory: PrefixTree<Span>;
  readonly #disk: PrefixTree<Span> | undefined;
  #writtenBytes = 0;
  readonly #symbols = new Map<string, number>();
  /** Tokens that each symbol stands for. */
  readonly #weights: number[] = [];

  constructor(machine: SimulatedMachine, { hasDisk }: { readonly hasDisk: boolean }) {
    this.#machine = machine;
    this.#memory = this.#openTree(machine.memoryBytes, machine.kvBytes);
    this.#disk = hasDisk ? this.#openTree(machine.diskBytes, machine.fileBytes) : undefined;
  }

  async answer(prompt: PromptShape): Promise<TurnAccess> {
    const { limits, kvBytes, fileBytes } = this.#machine;
    const whole = prefixTokens(prompt) + prompt.query.tokens;
    const path = this.#path(prompt);
    const inMemory = this.#find(this.#memory, path);
    const onDisk = this.#find(this.#disk, path);
    const end = lastExactCut(limits, Math.min(Math.max(inMemory.tokens, onDisk.tokens), whole - limits.leastTokens));
    const found = end < limits.leastTokens ? 0 : end;
    this.#memory.insert(path, [], (from, to) => this.#span(path.tokenIds.slice(from, to)));
    this.#disk?.insert(path, [], (from, to) => this.#write(this.#span(path.tokenIds.slice(from, to))));
    const fromMemory = Math.min(found, inMemory.tokens);
    const fromDisk = found - fromMemory;
    return {
      evaluations: [{ tokens: whole - found, behind: found }],
      memory: loadedKv(fromMemory, kvBytes, inMemory.parts),
      disk: loadedKv(fromDisk, fileBytes, onDisk.parts),
      made: nothingMade,
      importedBytes: kvBytes(found),
      hit: found > 0,
    };
  }

  stats(): CacheStats {
    const disk = this.#disk === undefined ? noDisk : { ...this.#disk.stats(), writtenBytes: this.#writtenBytes };
    return { memory: this.#memory.stats(), disk };
  }

  #openTree(maxBytes: number, bytesOf: (tokens: number) => number): PrefixTree<Span> {
    const kv = {
      split: ({ symbols }: Span, at: number) =>
        [this.#span(symbols.slice(0, at)), this.#span(symbols.slice(at))] as const,
      sizeBytes: ({ tokens }: Span) => bytesOf(tokens),
      tokens: ({ tokens }: Span) => tokens,
      erase: () => undefined,
    };
    return new PrefixTree(maxBytes, kv, this.#machine.policy);
  }

  #find(tree: PrefixTree<Span> | undefined, path: PromptPath): { readonly tokens: number; readonly parts: number } {
    const spans = tree?.match(path) ?? [];
    const known = spans.reduce((sum, { tokens }) => sum + tokens, 0);
    return { tokens: this.#span(path.tokenIds.slice(0, known)).tokens, parts: spans.length };
  }

  #write(span: Span): Span {
    this.#writtenBytes += this.#machine.fileBytes(span.tokens);
    return span;
  }

  #path({ userId: scope, header, segments, query }: PromptShape): PromptPath {
    if (query.tokenIds !== undefined) {
      const tokenIds = [header, ...segments, query].flatMap((span) => span.tokenIds!);
      return { tokenIds, sharedTokens: header.tokens, scope };
    }
    const front = header.tokens === 0 ? [] : [this.#symbol('', header.tokens)];
    const known = segments.map(({ id, tokens }) => this.#symbol(`${scope}/${id}`, tokens));
    return { tokenIds: [...front, ...known, this.#newSymbol(query.tokens)], sharedTokens: front.length, scope };
  }

  #span(symbols: readonly number[]): Span {
    if (this.#weights.length === 0) return { symbols, tokens: symbols.length };
    return { symbols, tokens: symbols.reduce((sum, symbol) => sum + this.#weights[symbol]!, 0) };
  }

  #symbol(name: string, weight: number): number {
    const symbol = this.#symbols.get(name) ?? this.#newSymbol(weight);
    this.#symbols.set(name, symbol);
    return symbol;
  }

  #newSymbol(weight: number): number {
    return this.#weights.push(weight) - 1;
  }
}

/** An arm that stores KV by content key in memory and on disk. */
abstract class StoredKvArm implements SimulatedArm {
  protected readonly machine: SimulatedMachine;
  readonly #disk: SimulatedDisk;
  protected readonly store: BlockStore<SimulatedKv, SimulatedKv>;

  constructor(machine: SimulatedMachine) {
    this.machine = machine;
    this.#disk = new SimulatedDisk(machine.diskBytes, machine.policy);
    const { blocks: maxBytes } = shareMemory(machine.memoryBytes);
    this.store = new BlockStore(this.#disk, simulatedBlocks, {
      maxBytes,
      policy: machine.policy,
      timing: 'when-evicted',
    });
  }

  abstract answer(prompt: PromptShape): Promise<TurnAccess>;

  /** Finds KV and adds it to what the turn loaded; otherwise stores it as just computed. @returns true if it was found */
  protected async use(
    userId: string,
    key: string,
    tokens: number,
    loaded: Pick<TurnAccess, 'memory' | 'disk'>,
  ): Promise<boolean> {
    const found = await this.store.find(userId, key);
    if (found === undefined) {
      const { kvBytes, fileBytes } = this.machine;
      const kv = { tokens, memoryBytes: kvBytes(tokens), diskBytes: fileBytes(tokens) };
      this.store.keep({ userId, key, tokens, memoryIds: [] }, kv);
      return false;
    }
    const { state, tier } = found;
    loaded[tier].tokens += tokens;
    loaded[tier].bytes += tier === 'disk' ? state.diskBytes : state.memoryBytes;
    loaded[tier].parts++;
    return true;
  }

  stats(): CacheStats {
    // Without memory, KV only passes through it.
    const memory = this.machine.memoryBytes === 0 ? emptyTier : this.store.stats().memory;
    return { memory, disk: this.#disk.stats() };
  }
}

/** `dki`: header and memories as one prefix, up to the last exact cut. */
class ExactPrefixArm extends StoredKvArm {
  async answer(prompt: PromptShape): Promise<TurnAccess> {
    const prefix = prefixTokens(prompt);
    const stored = lastExactCut(this.machine.limits, prefix);
    if (prompt.segments.length === 0 || stored === 0) return asText(prompt);
    const loaded = { memory: nothingLoaded(), disk: nothingLoaded() };
    const hit = await this.use(prompt.userId, prefixKey(prompt, stored), stored, loaded);
    await this.store.settle();
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
class BlocksArm extends StoredKvArm {
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
    await this.store.settle();
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
