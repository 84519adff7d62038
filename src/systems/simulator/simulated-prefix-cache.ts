import { lastExactCut } from '../../engine/engine-capabilities.ts';
import { PrefixTree, type PromptPath } from '../../kv/prefix-tree.ts';
import {
  type CacheStats,
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

interface Span {
  readonly tokens: number;
  readonly symbols: readonly number[];
}

function loadedKv(tokens: number, bytesOf: (tokens: number) => number, parts: number): LoadedKv {
  return tokens === 0 ? nothingLoaded() : { tokens, bytes: bytesOf(tokens), parts };
}

/** `rag-cached`: a radix tree of token ids or, if unknown, of a symbol per segment; optionally another on disk. */
export class PrefixCacheArm implements SimulatedArm {
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
