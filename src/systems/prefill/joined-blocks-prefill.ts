import type { BlockStore } from '../../kv/block-store.ts';
import { kvBytes } from '../../engine/sequence-state.ts';
import { evictionName, keptTokens } from '../../kv/eviction-rule-and-share.ts';
import { quantisedCellBytes } from '../../kv/quantised-block.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import { type BuiltPrompt, type MemoryLines, type PrefixParts, prefixParts } from '../prompt/build-prompt.ts';
import { requireTokens, tokensByPosition } from './verify-kv-tokens.ts';
import { type BlockContext, type EvictingTurn, gatherBlocks, type GatheredBlocks } from './gather-blocks.ts';
import { type JoinRecipe, keptSinkTokens, makingOf, recipeName, sinkTokens } from './join-recipe.ts';
import { joinAndRecompute, type PlacedBlocks } from './join-and-recompute.ts';
import { type Repair, repairedBlocks } from './repaired-blocks.ts';
import { countTokens } from './select-tokens-to-recompute.ts';
import {
  type ComputeBlock,
  type KvParts,
  type PrefillAccount,
  prefillAsText,
  type Prefilled,
  type PrefillStrategy,
  type TurnContext,
} from './prefill-strategy.ts';

/** Settings of joined blocks. A recipe that recomputes tokens cannot be combined with eviction. */
export interface JoinedBlocksOptions extends KvParts<BlockStore> {
  readonly recipe: JoinRecipe;
  readonly computeBlock?: ComputeBlock | undefined;
  /** Only with eviction. Default: no block comes back whole. */
  readonly repair?: Repair | undefined;
}

/**
 * Each memory line is a separate block, computed once. Blocks are joined after one copy of the header, so any set of memories
 * in any order needs no new evaluation. Blocks do not attend to each other, except for recomputed tokens.
 * @see Block-Attention, arXiv 2409.15355; EPIC, arXiv 2410.15332; APE, arXiv 2502.05431 (parallel positions, temperature)
 */
export class JoinedBlocksPrefill implements PrefillStrategy {
  readonly #options: JoinedBlocksOptions;

  constructor(options: JoinedBlocksOptions) {
    this.#options = options;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    const { session, userId, alpha } = turn;
    if (parts.lines.length === 0) return prefillAsText(session, parts.suffix);
    const { recipe, store, repair } = this.#options;
    const ranks = parts.lines.map(({ memoryId }) => parts.ranked.indexOf(memoryId));
    const repaired = repair === undefined ? undefined : repairedBlocks(repair, ranks, parts.suffix);
    const context = { ...this.#context(turn), evicting: { rest: parts, repaired } };
    const gathered = await gatherBlocks(context, userId, parts, recipe);
    const start = performance.now();
    const blocks = gathered.blocks.map((block, index) => ({ ...block, rank: ranks[index]! }));
    const { header, sink } = gathered;
    const unplaced = { header: header.state, sink, blocks, alpha, rest: parts, rotated: store.rotated };
    using placed = await joinAndRecompute(recipe, context, unplaced);
    await this.#import(placed, parts, turn);
    const selectorMs = placed.selector?.ms ?? 0;
    const joinMs = performance.now() - start - placed.recomputeMs - selectorMs;
    const isSettled = [header, ...gathered.blocks].every(({ origin }) => origin === 'memory');
    return {
      keep: isSettled ? undefined : () => this.#settle(),
      suffix: parts.suffix,
      record: this.#record(gathered, placed, parts, { alpha, joinMs, repaired }),
      account: {
        ...this.#account(gathered, placed, session.tokens.length + parts.suffix.length),
        ...(repaired === undefined ? {} : { repaired: this.#repairedTokens(parts, repaired) }),
      },
      kvLoadMs: gathered.findMs + joinMs,
      kvComputeMs: gathered.computeMs + selectorMs + placed.recomputeMs,
    };
  }

  async prepare(lines: MemoryLines, turn: TurnContext): Promise<number> {
    const { chargedMs } = await gatherBlocks(this.#context(turn), turn.userId, lines, this.#options.recipe);
    await this.#settle();
    return chargedMs;
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

  dispose(): void {
    this.#options.store[Symbol.dispose]();
  }

  async #settle(): Promise<undefined> {
    await this.#options.store.settle();
  }

  #context({ session, signal }: TurnContext): BlockContext {
    return { ...this.#options, session, signal };
  }

  /** Imports the joined cells. @throws BenchError `bad-state` if the session does not hold the tokens of the prompt afterwards */
  async #import({ state }: PlacedBlocks, { header, lines }: PrefixParts, { session }: TurnContext): Promise<void> {
    const { recipe, evict } = this.#options;
    await session.importCells(state);
    // A session cannot list tokens at shared positions.
    if (recipe.positions === 'parallel') return;
    const sink = keptSinkTokens(recipe) > 0 ? sinkTokens(recipe, header) : [];
    const ids = [...header, ...lines.flatMap(({ tokenIds }) => [...sink, ...tokenIds])];
    requireTokens(session.tokens, evict === null ? ids : tokensByPosition(state));
  }

  /** Tokens in the session that eviction had dropped. */
  #repairedTokens({ lines }: PrefixParts, repaired: ReadonlySet<number>): number {
    const { evict } = this.#options;
    const dropped = ({ length }: readonly unknown[]): number =>
      evict === null ? 0 : length - keptTokens(length, evict);
    return [...repaired].reduce((sum, index) => sum + dropped(lines[index]!.tokenIds), 0);
  }

  #account(gathered: GatheredBlocks, placed: PlacedBlocks, positions: number): PrefillAccount {
    const { blocks, builtTokens } = gathered;
    const { state, recomputed, recomputedTokens, recomputeMs } = placed;
    // Tokens are selected to be recomputed or to be evicted, never both.
    const selector = placed.selector ?? gathered.selector;
    const selection = {
      selectable: blocks.slice(1).reduce((sum, block) => sum + block.state.positions.length, 0),
      selected: countTokens(recomputed),
      splices: recomputed.length,
      ms: recomputeMs,
    };
    return {
      cache: builtTokens > 0 ? 'miss' : 'hit',
      built: builtTokens,
      recomputed: recomputedTokens,
      resident: state.positions.length,
      positions,
      ...(this.#options.recipe.recompute === null ? {} : { selection }),
      ...(selector === null ? {} : { selector }),
    };
  }

  #record(
    { header, blocks }: GatheredBlocks,
    { state, positions, recomputed, recomputedTokens }: PlacedBlocks,
    { lines }: PrefixParts,
    { alpha, joinMs, repaired }: Readonly<{ alpha: number; joinMs: number; repaired: EvictingTurn['repaired'] }>,
  ): PrefillRecord {
    const { recipe, evict, keptAs } = this.#options;
    const making = makingOf(recipe);
    const cells = state.positions.length;
    const headerTokens = header.state.positions.length;
    return {
      strategy: recipeName(recipe),
      ...(making === undefined ? {} : { making }),
      ...(evict === null ? {} : { evicted: evictionName(evict) }),
      ...(keptAs === 'f16' ? {} : { keptAs }),
      alpha,
      header: { key: header.key, tokens: headerTokens, origin: header.origin, computeMs: header.computeMs },
      blocks: blocks.map(({ key, origin, computeMs }, index) => ({
        memoryId: lines[index]!.memoryId,
        key,
        tokens: lines[index]!.tokenIds.length,
        position: positions[index]!,
        origin,
        computeMs,
        ...(repaired?.has(index) === true ? { repaired: true as const } : {}),
      })),
      recomputed,
      recomputedTokens,
      sizeBytes: keptAs === 'f16' ? kvBytes(state) : quantisedCellBytes(state.layout, cells, keptAs),
      memoryLines: {
        tokens: lines.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
        cells: cells - headerTokens,
      },
      joinMs,
    };
  }
}
