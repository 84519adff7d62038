import { memoize } from '../../base/memoize.ts';
import type { Engine } from '../../engine/engine.ts';
import { lastExactCut, requireCells } from '../../engine/engine-capabilities.ts';
import { kvBytes, type SequenceState } from '../../engine/sequence-state.ts';
import { ArenaCells } from '../../kv/arena-cells.ts';
import { cutCells as cut } from '../../kv/cut-cells.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import type { KvOperations } from '../../kv/kv-operations.ts';
import { type OwnedText, PrefixTree, type PromptPath } from '../../kv/prefix-tree.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { PromptSegment } from '../../store/records/prompt-info.ts';
import { type BuiltPrompt, systemTokens } from '../prompt/build-prompt.ts';
import { WHOLE_PROMPT } from './cached-text-prefill.ts';
import { type Prefilled, type PrefillStrategy, textAccount, type TurnContext } from './prefill-strategy.ts';
import { isBadState, requireTokens } from './verify-kv-tokens.ts';

/** What users may find of each other's prompts: the text before their own, or everything. */
export type PrefixSharing = NonNullable<ArmTraits['shares']>;

export interface PrefixTreeOptions {
  readonly engine: Engine;
  readonly kv: KvOperations;
  /** Its bound in bytes is that of the tree. Systems with the same store share the tree. */
  readonly store: KvStore;
  readonly sharing: PrefixSharing;
}

/** The tree of a store, and how many systems use it. */
const sharedTree = memoize((store: KvStore) => {
  const tree = new PrefixTree<ArenaCells>(store.stats().maxBytes, {
    split: (cells, at) => {
      const parts = [cutCells(cells, 0, at), cutCells(cells, at, cells.positions.length)] as const;
      cells.erase();
      return parts;
    },
    sizeBytes: kvBytes,
    erase: (cells) => cells.erase(),
  });
  return { tree, users: 0 };
});

/** Prefix caching in memory, as servers do it: the KV of all users' prompts in one radix tree of tokens. */
export class PrefixTreePrefill implements PrefillStrategy {
  readonly #options: PrefixTreeOptions;
  readonly #tree: PrefixTree<ArenaCells>;
  #counts = { hits: 0, misses: 0, rejected: 0 };

  constructor(options: PrefixTreeOptions) {
    this.#options = options;
    const shared = sharedTree(options.store);
    shared.users++;
    this.#tree = shared.tree;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const { tokenIds } = prompt;
    const start = performance.now();
    const found = await this.#restore(prompt, turn);
    if (found === 0) await turn.session.clear();
    this.#counts[found === 0 ? 'misses' : 'hits']++;
    return {
      suffix: tokenIds.slice(found),
      record: null,
      account: textAccount(tokenIds, found),
      kvLoadMs: performance.now() - start,
      kvComputeMs: 0,
      keep: () => this.#keep(prompt, turn),
    };
  }

  async forget(userId: string, memoryId: string): Promise<number> {
    const forgotten = ownerName(userId, memoryId);
    return this.#tree.forget((owner) => owner === forgotten);
  }

  async reset(): Promise<void> {
    this.#tree.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#counts, ...this.#tree.stats() };
  }

  dispose(): void {
    if (--sharedTree(this.#options.store).users === 0) this.#tree.clear();
  }

  /** Imports the longest known prefix of a prompt, up to an exact cut. @returns its tokens, 0 for none */
  async #restore(prompt: BuiltPrompt, turn: TurnContext): Promise<number> {
    const { engine, kv } = this.#options;
    const { leastTokens } = engine.capabilities;
    const { tokenIds } = prompt;
    const spans = this.#tree.match(this.#path(prompt, turn));
    const known = spans.reduce((sum, { tokens }) => sum + tokens, 0);
    const end = lastExactCut(engine.capabilities, Math.min(known, tokenIds.length - leastTokens));
    if (end < leastTokens) return 0;
    let at = 0;
    const parts: SequenceState[] = [];
    for (const { kv: cells, tokens } of spans) {
      const wanted = Math.min(tokens, end - at);
      if (wanted > 0) parts.push(wanted === cells.positions.length ? cells : kv.cut(cells, 0, wanted));
      at += tokens;
    }
    const [first, ...others] = parts;
    const placements = others.map((block) => ({ block, position: block.positions[0]!, alpha: 1 }));
    try {
      using joined = kv.join(first!, placements, { rotary: requireCells(engine).rotary });
      await turn.session.importCells(joined);
      requireTokens(turn.session.tokens, tokenIds.slice(0, end));
      return end;
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#counts.rejected++;
      this.#tree.clear();
      return 0;
    }
  }

  /** Adds the prompt, without the answer, which was evaluated token by token. */
  async #keep(prompt: BuiltPrompt, turn: TurnContext): Promise<undefined> {
    const { session } = turn;
    const { tokenIds } = prompt;
    const path = this.#path(prompt, turn);
    const start = this.#tree.knownTokens(path);
    // An aborted turn has evaluated only a part of the prompt.
    if (start === tokenIds.length || session.tokens.length < tokenIds.length) return;
    using cells = await session.exportCells({ start, end: tokenIds.length });
    try {
      requireTokens(cells.tokenIds, tokenIds.slice(start));
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#counts.rejected++;
      return;
    }
    // Another session may have changed the tree while the cells were copied.
    if (this.#tree.knownTokens(path) < start) return;
    const texts = ownedTexts(prompt.info.segments, turn.userId);
    this.#tree.insert(path, texts, (from, to) => cutCells(cells, from - start, to - start));
  }

  #path({ tokenIds, info: { segments } }: BuiltPrompt, { userId }: TurnContext): PromptPath {
    if (this.#options.sharing === 'all') return { tokenIds, sharedTokens: tokenIds.length, scope: '' };
    return { tokenIds, sharedTokens: systemTokens(segments), scope: userId };
  }
}

function cutCells(cells: SequenceState, start: number, end: number): ArenaCells {
  using part = cut(cells, start, end);
  return new ArenaCells(part);
}

function ownerName(userId: string, memoryId: string): string {
  return JSON.stringify([userId, memoryId]);
}

/** The start of each memory, and of history and question, in a prompt. */
function ownedTexts(segments: readonly PromptSegment[], userId: string): OwnedText[] {
  const texts: OwnedText[] = [];
  const system = systemTokens(segments);
  let start = 0;
  for (const { memoryId, tokenIds } of segments) {
    if (start >= system) texts.push({ owner: ownerName(userId, memoryId ?? WHOLE_PROMPT), start });
    start += tokenIds.length;
  }
  return texts;
}
