import type { Engine } from '../../engine/engine.ts';
import type { BlockStore } from '../../kv/block-store.ts';
import { type Eviction, evictionName } from '../../kv/eviction-scores.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import { kvBytes } from '../../kv/cut-cells.ts';
import { quantisedCellBytes } from '../../kv/quantised-block.ts';
import type { PrefillRecord, StoreType } from '../../store/records/prefill-record.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { type MemoryLines, type PrefixParts, prefixParts } from '../prompt/memory-lines.ts';
import { sinkTokens } from './block-context.ts';
import { type BlockContext, gatherBlocks, type GatheredBlocks } from './gather-blocks.ts';
import { requireInSession, tokensByPosition } from './exact-tokens.ts';
import { type JoinRecipe, makingOf, recipeName } from './join-recipe.ts';
import { placeBlocks, type PlacedBlocks } from './place-blocks.ts';
import {
  type PrefillAccount,
  prefillAsText,
  type Prefilled,
  type PrefillStrategy,
  type TurnContext,
} from './prefill-strategy.ts';

/** Settings of joined blocks. */
export interface JoinedOptions {
  readonly engine: Engine;
  readonly store: BlockStore;
  readonly kv: KvTools;
  readonly recipe: JoinRecipe;
  /** Tokens that are dropped from each block before it is kept; null for none. Not with a recipe that recomputes. */
  readonly evict: Eviction | null;
  /** The type in which the store keeps blocks. */
  readonly keptAs: StoreType;
  /** Template and labels, part of each key. */
  readonly template: string;
}

/** Blocks that are in the session, and the cost of joining them. */
interface Joined extends Pick<
  PlacedBlocks,
  'positions' | 'recomputed' | 'recomputedTokens' | 'recomputeMs' | 'selector'
> {
  readonly gathered: GatheredBlocks;
  /** Of header and blocks. */
  readonly cells: number;
  readonly sizeBytes: number;
  readonly joinMs: number;
}

/**
 * Every memory line as a block of its own, computed once, joined behind one copy of the header: any set of memories in
 * any order, without evaluating them again. Blocks have not seen each other, but for what the recipe recomputes.
 * @see Block-Attention, arXiv 2409.15355; EPIC, arXiv 2410.15332; APE, arXiv 2502.05431 (its positions and its temperature)
 */
export class JoinedPrefill implements PrefillStrategy {
  readonly #options: JoinedOptions;

  constructor(options: JoinedOptions) {
    this.#options = options;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    if (parts.lines.length === 0) return prefillAsText(turn.session, parts.suffix);
    const joined = await this.#join(parts, turn);
    const { gathered, selector } = joined;
    const isSettled = [gathered.header, ...gathered.blocks].every(({ origin }) => origin === 'memory');
    return {
      ...(isSettled ? {} : { keep: () => this.#settle() }),
      suffix: parts.suffix,
      record: joinRecord(this.#options, turn.alpha, parts, joined),
      account: {
        cache: gathered.builtTokens > 0 ? 'miss' : 'hit',
        built: gathered.builtTokens,
        recomputed: joined.recomputedTokens,
        resident: joined.cells,
        positions: turn.session.tokens.length + parts.suffix.length,
        ...(this.#options.recipe.recompute === null ? {} : { selection: selectionAccount(joined) }),
        ...(selector === null ? {} : { selector }),
      },
      kvLoadMs: gathered.findMs + joined.joinMs,
      kvComputeMs: gathered.computeMs + (selector?.ms ?? 0) + joined.recomputeMs,
    };
  }

  async prepare(lines: MemoryLines, turn: TurnContext): Promise<void> {
    await gatherBlocks(this.#context(turn), turn.userId, lines, this.#options.recipe);
    await this.#settle();
  }

  forget(userId: string, memoryId: string): Promise<number> {
    return this.#options.store.forgetMemory(userId, memoryId);
  }

  reset(): Promise<void> {
    return this.#options.store.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#options.store.stats() };
  }

  async dispose(): Promise<void> {
    this.#options.store[Symbol.dispose]();
  }

  async #settle(): Promise<undefined> {
    await this.#options.store.settle();
  }

  #context({ session, signal }: TurnContext): BlockContext {
    const { engine, store, kv, template, evict, keptAs } = this.#options;
    return { engine, session, store, kv, template, evict, keptAs, signal };
  }

  async #join(parts: PrefixParts, turn: TurnContext): Promise<Joined> {
    const { recipe, store, evict, keptAs } = this.#options;
    const { session, userId, alpha } = turn;
    const context = this.#context(turn);
    const gathered = await gatherBlocks(context, userId, parts, recipe);
    const start = performance.now();
    const blocks = gathered.blocks.map(({ state, start: builtAt }, index) => ({
      state,
      start: builtAt,
      rank: parts.ranked.indexOf(parts.lines[index]!.memoryId),
    }));
    const options = { alpha, sink: gathered.sink, rest: parts, rotated: store.rotated };
    using placed = await placeBlocks(recipe, context, gathered.header.state, blocks, options);
    const { state, positions, recomputed, recomputedTokens, recomputeMs, selector } = placed;
    const cells = state.positions.length;
    const sizeBytes = keptAs === 'f16' ? kvBytes(state) : quantisedCellBytes(state.layout, cells, keptAs);
    await session.importCells(state);
    // Where blocks share positions a session has no list of its tokens.
    if (recipe.positions === 'contiguous') {
      const sink = recipe.sink?.kept === true ? sinkTokens(recipe, parts.header) : [];
      const ids = [...parts.header, ...parts.lines.flatMap(({ tokenIds }) => [...sink, ...tokenIds])];
      await requireInSession(session, evict === null ? ids : tokensByPosition(state));
    }
    const joinMs = performance.now() - start - recomputeMs - (selector?.ms ?? 0);
    return { gathered, cells, positions, recomputed, recomputedTokens, sizeBytes, recomputeMs, selector, joinMs };
  }
}

function selectionAccount({ gathered, recomputed, recomputeMs }: Joined): NonNullable<PrefillAccount['selection']> {
  const later = gathered.blocks.slice(1);
  return {
    selectable: later.reduce((sum, { state }) => sum + state.positions.length, 0),
    selected: recomputed.reduce((sum, { start, end }) => sum + end - start, 0),
    splices: recomputed.length,
    ms: recomputeMs,
  };
}

function joinRecord(
  { recipe, evict, keptAs }: Pick<JoinedOptions, 'recipe' | 'evict' | 'keptAs'>,
  alpha: number,
  { lines }: PrefixParts,
  { gathered, cells, positions, recomputed, recomputedTokens, sizeBytes, joinMs }: Joined,
): PrefillRecord {
  const { header } = gathered;
  const making = makingOf(recipe);
  return {
    strategy: recipeName(recipe),
    ...(making === undefined ? {} : { making }),
    ...(evict === null ? {} : { evicted: evictionName(evict) }),
    ...(keptAs === 'f16' ? {} : { keptAs }),
    alpha,
    header: {
      key: header.key,
      tokens: header.state.positions.length,
      origin: header.origin,
      computeMs: header.computeMs,
    },
    blocks: gathered.blocks.map(({ key, origin, computeMs }, index) => ({
      memoryId: lines[index]!.memoryId,
      key,
      tokens: lines[index]!.tokenIds.length,
      position: positions[index]!,
      origin,
      computeMs,
    })),
    recomputed,
    recomputedTokens,
    sizeBytes,
    memoryLines: {
      tokens: lines.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
      cells: cells - header.state.positions.length,
    },
    joinMs,
  };
}
