import { type CutLimits, lastExactCut } from '../../engine/engine-capabilities.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { BlockMemoryTier } from '../../kv/block-memory-tier.ts';
import { BlockStore, shareMemory } from '../../kv/block-store.ts';
import type { EvictionPolicy } from '../../kv/eviction-queue.ts';
import { PrefixTree, type PromptPath } from '../../kv/prefix-tree.ts';
import type { Trace, TraceSegment } from '../../kv/traffic/trace.ts';
import { RetrievalCounts } from '../retrieval-counts.ts';
import { simulatedBlocks, SimulatedDisk, type SimulatedKv } from './simulated-disk.ts';

/** Some tokens of a prompt, and their ids where they are known. */
export interface PromptSpan {
  readonly tokens: number;
  readonly tokenIds?: readonly TokenId[];
}

/**
 * What a prompt consists of, without its text. Either all ids of its tokens are known, or none are: then a prefix cache does not find
 * the tokens that two different segments begin with.
 */
export interface PromptShape {
  readonly userId: string;
  /** The same in all prompts of all users. */
  readonly header: PromptSpan;
  /** Memories, in the order of the prompt. */
  readonly segments: readonly (TraceSegment & PromptSpan)[];
  readonly query: PromptSpan;
}

/** The prompts of a trace, in order. */
export function* promptShapes({ headerTokens, turns }: Trace): Generator<PromptShape> {
  const header = { tokens: headerTokens };
  for (const { userId, segments, queryTokens } of turns)
    yield { userId, header, segments, query: { tokens: queryTokens } };
}

/** KV that a turn used, from one tier. */
export interface LoadedKv {
  tokens: number;
  bytes: number;
  /** Separately stored parts. */
  parts: number;
}

/** What a turn evaluates and loads up to its first token. */
export interface TurnAccess {
  /** Calls of the engine: so many tokens, behind so many. */
  readonly evaluations: readonly { readonly tokens: number; readonly behind: number }[];
  readonly memory: LoadedKv;
  readonly disk: LoadedKv;
  /** Bytes of KV that are brought into the session in front of the query, whether found or just computed. */
  readonly importedBytes: number;
  /** All KV that the arm wanted was there; for a prefix cache: something was. */
  readonly hit: boolean;
}

export function evaluatedTokens({ evaluations }: TurnAccess): number {
  return evaluations.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** An arm's use of caches, turn by turn, without a model. */
export interface SimulatedArm {
  answer(prompt: PromptShape): Promise<TurnAccess>;
  stats(): CacheStats;
}

/** What an arm keeps at the end. */
export interface CacheStats {
  readonly memory: TierStats;
  readonly disk: TierStats & { readonly writtenBytes: number };
}

type TierStats = Readonly<Record<'entries' | 'evicted' | 'sizeBytes', number>>;

const emptyTier: TierStats = { entries: 0, evicted: 0, sizeBytes: 0 };
const noDisk = { ...emptyTier, writtenBytes: 0 };

/** The engine and the caches that are simulated. */
export interface SimulatedMachine {
  readonly limits: CutLimits & { readonly leastTokens: number };
  /** Bounds of what an arm may keep. `diskBytes` 0: no disk. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Bytes of stored KV by its tokens, in memory and on disk. */
  readonly kvBytes: (tokens: number) => number;
  readonly fileBytes: (tokens: number) => number;
  readonly policy?: EvictionPolicy;
}

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
/** A prefix cache that also writes its KV to disk, as LMCache and Mooncake's store do. No arm of the bench: it is estimated alone. */
export const prefixCacheWithDisk = 'rag-cached + disk';
export type SimulatedArmName = (typeof simulatedArmNames)[number] | typeof prefixCacheWithDisk;

export function openSimulatedArm(name: SimulatedArmName, machine: SimulatedMachine): SimulatedArm {
  switch (name) {
    case 'rag':
      return new TextArm();
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
      return new StableOrderArm(openSimulatedArm(withoutOrder(name), machine));
  }
}

/** The arm that caches alike. */
export function withoutOrder(name: SimulatedArmName): SimulatedArmName {
  return name.replace('@order=stable', '') as SimulatedArmName;
}

const nothingLoaded = (): LoadedKv => ({ tokens: 0, bytes: 0, parts: 0 });

function prefixTokens({ header, segments }: PromptShape): number {
  return segments.reduce((sum, { tokens }) => sum + tokens, header.tokens);
}

class TextArm implements SimulatedArm {
  async answer(prompt: PromptShape): Promise<TurnAccess> {
    return asText(prompt);
  }

  stats(): CacheStats {
    return { memory: emptyTier, disk: noDisk };
  }
}

function asText(prompt: PromptShape): TurnAccess {
  const evaluations = [{ tokens: prefixTokens(prompt) + prompt.query.tokens, behind: 0 }];
  return { evaluations, memory: nothingLoaded(), disk: nothingLoaded(), importedBytes: 0, hit: false };
}

/** Shows memories by how often they were retrieved before. */
class StableOrderArm implements SimulatedArm {
  readonly #counts = new RetrievalCounts();
  readonly #arm: SimulatedArm;

  constructor(arm: SimulatedArm) {
    this.#arm = arm;
  }

  answer(prompt: PromptShape): Promise<TurnAccess> {
    const retrieved = prompt.segments.map((segment) => ({ memoryId: segment.id, segment }));
    const byId = new Map(prompt.segments.map((segment) => [segment.id, segment]));
    const segments = this.#counts.count(prompt.userId, retrieved).map((id) => byId.get(id)!);
    return this.#arm.answer({ ...prompt, segments });
  }

  stats(): CacheStats {
    return this.#arm.stats();
  }
}

interface Span {
  readonly tokens: number;
  readonly symbols: readonly number[];
}

/** `rag-cached`: one radix tree, of token ids or, where they are not known, of a symbol for each segment. A second one is on disk. */
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
      memory: fromMemory === 0 ? nothingLoaded() : { tokens: fromMemory, bytes: kvBytes(fromMemory), parts: inMemory.parts }, // prettier-ignore
      disk: fromDisk === 0 ? nothingLoaded() : { tokens: fromDisk, bytes: fileBytes(fromDisk), parts: onDisk.parts },
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

/** KV by content key in memory and on disk. */
class StoredKv {
  readonly #machine: SimulatedMachine;
  readonly #disk: SimulatedDisk;
  readonly #store: BlockStore<SimulatedKv, SimulatedKv>;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
    this.#disk = new SimulatedDisk(machine.diskBytes);
    const memory = new BlockMemoryTier(shareMemory(machine.memoryBytes).blocks, simulatedBlocks);
    this.#store = new BlockStore(this.#disk, memory, 'when-evicted');
  }

  /** Finds KV and adds it to what the turn loaded; otherwise keeps it, as computed. @returns whether it was found */
  async use(
    userId: string,
    key: string,
    tokens: number,
    loaded: Pick<TurnAccess, 'memory' | 'disk'>,
  ): Promise<boolean> {
    const found = await this.#store.find(userId, key);
    if (found === undefined) {
      const { kvBytes, fileBytes } = this.#machine;
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
  settle(): Promise<void> {
    return this.#store.settle();
  }

  stats(): CacheStats {
    // Without memory, KV only passes through it.
    const memory = this.#machine.memoryBytes === 0 ? emptyTier : this.#store.stats().memory;
    return { memory, disk: this.#disk.stats() };
  }
}

/** `dki`: header and memories as one prefix, up to the last exact cut. */
class ExactPrefixArm implements SimulatedArm {
  readonly #machine: SimulatedMachine;
  readonly #stored: StoredKv;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
    this.#stored = new StoredKv(machine);
  }

  async answer(prompt: PromptShape): Promise<TurnAccess> {
    const prefix = prefixTokens(prompt);
    const stored = lastExactCut(this.#machine.limits, prefix);
    if (prompt.segments.length === 0 || stored === 0) return asText(prompt);
    const loaded = { memory: nothingLoaded(), disk: nothingLoaded() };
    const hit = await this.#stored.use(prompt.userId, prefixKey(prompt, stored), stored, loaded);
    await this.#stored.settle();
    const suffix = { tokens: prefix - stored + prompt.query.tokens, behind: stored };
    const importedBytes = hit ? this.#machine.kvBytes(stored) : 0;
    return { evaluations: hit ? [suffix] : [{ tokens: stored, behind: 0 }, suffix], ...loaded, importedBytes, hit };
  }

  stats(): CacheStats {
    return this.#stored.stats();
  }
}

/** Of the first tokens of a prefix; a segment that is cut counts as a whole where its tokens are not known. */
function prefixKey({ header, segments, query }: PromptShape, stored: number): string {
  if (query.tokenIds !== undefined)
    return [header, ...segments]
      .flatMap((span) => span.tokenIds!)
      .slice(0, stored)
      .join(' ');
  let start = header.tokens;
  const within = segments.filter((segment) => (start += segment.tokens) - segment.tokens < stored);
  return JSON.stringify(within.map(({ id }) => id));
}

/** `dki-blocks`: the header and each memory by itself, or behind the memory in front of it. */
class BlocksArm implements SimulatedArm {
  readonly #machine: SimulatedMachine;
  readonly #stored: StoredKv;
  readonly #behindPrevious: boolean;

  constructor(machine: SimulatedMachine, behindPrevious: boolean) {
    this.#machine = machine;
    this.#stored = new StoredKv(machine);
    this.#behindPrevious = behindPrevious;
  }

  async answer(prompt: PromptShape): Promise<TurnAccess> {
    if (prompt.segments.length === 0) return asText(prompt);
    const loaded = { memory: nothingLoaded(), disk: nothingLoaded() };
    const evaluations: { tokens: number; behind: number }[] = [];
    for (const { key, tokens, context, behind } of this.#wanted(prompt)) {
      if (await this.#stored.use(prompt.userId, key, tokens, loaded)) continue;
      evaluations.push({ tokens: context + tokens, behind });
    }
    await this.#stored.settle();
    const hit = evaluations.length === 0;
    const behind = prefixTokens(prompt);
    evaluations.push({ tokens: prompt.query.tokens, behind });
    return { evaluations, ...loaded, importedBytes: this.#machine.kvBytes(behind), hit };
  }

  /** The header and the blocks; `context`: tokens that are evaluated again in front of a block. */
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

  stats(): CacheStats {
    return this.#stored.stats();
  }
}
