import type { Engine } from '../../engine/engine.ts';
import type { BlockStore } from '../../kv/block-store.ts';
import { joinBlocks } from '../../kv/join-blocks.ts';
import { kvBytes } from '../../kv/owned-state.ts';
import type { PrefillRecord } from '../../records/prefill-record.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import type { LinesAhead } from '../prompt/lines-ahead.ts';
import { type BlockContext, gatherBlocks, type GatheredBlocks } from './gather-blocks.ts';
import { requireInSession } from './exact-tokens.ts';
import { type JoinRecipe, recipeName } from './join-recipe.ts';
import { placeBlocks, type PlacedBlocks } from './place-blocks.ts';
import { type PrefixParts, prefixParts } from './prefix-parts.ts';
import { prefillAsText, type Prefilled, type PrefillStrategy, type TurnContext } from './prefill-strategy.ts';
import { cellsOf } from './scale-prefix.ts';

/** Settings of joined blocks. */
export interface JoinedOptions {
  readonly engine: Engine;
  readonly store: BlockStore;
  readonly recipe: JoinRecipe;
  /** Template and labels, part of each key. */
  readonly template: string;
}

/** Blocks that are in the session, and the cost of joining them. */
interface Joined {
  readonly gathered: GatheredBlocks;
  readonly placed: Pick<PlacedBlocks, 'positions' | 'recomputedTokens'>;
  readonly sizeBytes: number;
  readonly recomputeMs: number;
  readonly joinMs: number;
}

/**
 * Every memory line as a block of its own, computed once, joined behind one copy of the header: any set of memories in
 * any order, without evaluating them again. Blocks have not seen each other, but for what the recipe recomputes.
 * @see Block-Attention, arXiv 2409.15355; EPIC, arXiv 2410.15332; APE, arXiv 2502.05431 (its positions alone)
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
    const { gathered, placed } = joined;
    return {
      suffix: parts.suffix,
      record: recordOf(this.#options.recipe, turn.alpha, parts, joined),
      account: {
        cache: gathered.builtTokens > 0 ? 'miss' : 'hit',
        built: gathered.builtTokens,
        recomputed: placed.recomputedTokens,
        resident: prompt.prefixTokens,
        positions: turn.session.tokens.length + parts.suffix.length,
      },
      kvLoadMs: gathered.findMs + joined.joinMs,
      kvComputeMs: gathered.computeMs + joined.recomputeMs,
    };
  }

  async prepare(lines: LinesAhead, turn: TurnContext): Promise<void> {
    await gatherBlocks(this.#context(turn), turn.userId, lines);
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

  #context({ session, signal }: TurnContext): BlockContext {
    const { engine, store, template } = this.#options;
    return { engine, session, store, template, signal };
  }

  /** Scales last, so that recomputed tokens saw their predecessors unscaled and nothing is scaled twice. */
  async #join(parts: PrefixParts, turn: TurnContext): Promise<Joined> {
    const { engine, recipe, store } = this.#options;
    const { session, userId, alpha } = turn;
    const context = this.#context(turn);
    const gathered = await gatherBlocks(context, userId, parts);
    const recomputeStart = performance.now();
    const header = gathered.header.state;
    const blocks = gathered.blocks.map(({ state }) => state);
    using placed = await placeBlocks(recipe, context, header, blocks);
    const joinStart = placed.recomputedTokens === 0 ? recomputeStart : performance.now();
    const scaled = placed.placements.map((placement) => ({ ...placement, alpha }));
    using joined = joinBlocks(header, scaled, {
      rotary: cellsOf(engine).rotary,
      // Rotated keys are kept by block: the rest of one with recomputed tokens is another in every turn.
      ...(placed.recomputedTokens === 0 ? { rotated: store.rotated } : {}),
    });
    const sizeBytes = kvBytes(joined);
    await session.importCells(joined);
    // Where blocks share positions a session has no list of its tokens.
    if (recipe.positions === 'contiguous') {
      await requireInSession(session, [...parts.header, ...parts.lines.flatMap(({ tokenIds }) => tokenIds)]);
    }
    return {
      gathered,
      placed,
      sizeBytes,
      recomputeMs: joinStart - recomputeStart,
      joinMs: performance.now() - joinStart,
    };
  }
}

function recordOf(
  recipe: JoinRecipe,
  alpha: number,
  { lines }: PrefixParts,
  { gathered, placed, sizeBytes, joinMs }: Joined,
): PrefillRecord {
  const { header } = gathered;
  return {
    strategy: recipeName(recipe),
    alpha,
    header: {
      key: header.key,
      tokens: header.state.positions.length,
      origin: header.origin,
      computeMs: header.computeMs,
    },
    blocks: gathered.blocks.map(({ key, state, origin, computeMs }, index) => ({
      memoryId: lines[index]!.memoryId,
      key,
      tokens: state.positions.length,
      position: placed.positions[index]!,
      origin,
      computeMs,
    })),
    recomputedTokens: placed.recomputedTokens,
    sizeBytes,
    joinMs,
  };
}
