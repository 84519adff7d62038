import { joinBlocks, type JoinOptions } from '../../kv/join-blocks.ts';
import type { BlockStore } from '../../kv/block-store.ts';
import type { StateStore } from '../../kv/state-store.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import {
  answerAsText,
  type AheadWork,
  type HandOver,
  type HandOverRequest,
  type HandOverResult,
  type LinesToCome,
} from '../hand-over.ts';
import { type BlockWorkshop, gatherBlocks, type GatheredBlocks } from './gather-blocks.ts';
import { type JoinedMode, modeName } from './injection-mode.ts';
import { LastTurn } from '../last-turn.ts';
import { placeBlocks, type PlacedBlocks } from './place-blocks.ts';
import { type PrefixParts, prefixParts } from './prefix-parts.ts';
import { ScratchState } from '../scratch-state.ts';

/** A prefix in the file of the last turn, ready to be loaded. */
interface Joined {
  readonly gathered: GatheredBlocks;
  readonly placed: PlacedBlocks;
  readonly sizeBytes: number;
  readonly linkMs: number;
  readonly joinMs: number;
}

/**
 * Every memory line as a block of its own, computed once, joined behind one copy of the header: any set of memories in
 * any order, without reading them again. Blocks have not seen each other, but for what `link` evaluates again.
 * @see Block-Attention, arXiv 2409.15355; EPIC, arXiv 2410.15332; APE, arXiv 2502.05431 (its positions alone)
 */
export class JoinedHandOver implements HandOver {
  readonly sequence: ModelSequence;
  readonly #mode: JoinedMode;
  readonly #workshop: BlockWorkshop;
  readonly #join: JoinOptions;
  readonly #last: LastTurn;

  /** @param template template and labels, part of each key */
  constructor(model: LanguageModel, mode: JoinedMode, blocks: BlockStore, states: StateStore, template: string) {
    const { info } = model;
    this.sequence = model.openSequence();
    this.#mode = mode;
    this.#workshop = { info, sequence: this.sequence, store: blocks, scratch: new ScratchState(states), template };
    this.#join = { keys: info, sequences: info.contextOptions.sequences };
    this.#last = new LastTurn(new ScratchState(states));
  }

  async answer({ prompt, userId, limits, alpha }: HandOverRequest): Promise<HandOverResult> {
    const parts = prefixParts(prompt);
    if (parts.lines.length === 0) {
      this.#last.wasText(parts.suffix);
      return answerAsText(this.sequence, parts.suffix, limits);
    }
    const joined = await this.#joinPrefix(parts, userId, alpha);
    const loadStart = performance.now();
    await this.#last.load(this.sequence);
    const loadMs = performance.now() - loadStart;
    const { gathered, placed } = joined;
    const prefixPositions = this.sequence.nextPosition;
    const generation = await this.sequence.generate(parts.suffix, limits);
    return {
      generation,
      kvLoadMs: gathered.findMs + joined.joinMs + loadMs,
      kvComputeMs: gathered.computeMs + joined.linkMs,
      keepMs: 0,
      residentTokens: prompt.prefixTokens,
      positions: prefixPositions + parts.suffix.length,
      builtTokens: gathered.builtTokens,
      linkTokens: placed.linkTokens,
      expectedEvaluatedTokens: parts.suffix.length + placed.linkTokens + gathered.builtTokens,
      reuse: gathered.builtTokens > 0 ? 'new' : 'seen',
      details: { kv: describe(modeName(this.#mode), alpha, parts, joined) },
    };
  }

  async prepare(userId: string, toCome: LinesToCome): Promise<AheadWork> {
    const start = performance.now();
    const before = this.sequence.meter;
    await gatherBlocks(this.#workshop, userId, toCome);
    const { inputTokens, outputTokens } = this.sequence.meter;
    const tokens = inputTokens - before.inputTokens + outputTokens - before.outputTokens;
    return { tokens, ms: performance.now() - start };
  }

  replay(sequence: ModelSequence): Promise<readonly number[]> {
    return this.#last.replay(sequence);
  }

  forget(userId: string, memoryId: string): void {
    this.#last.forget(userId, memoryId);
  }

  reset(): void {
    this.#workshop.store.clear();
    this.#last.forgetAll();
  }

  forgetLastTurn(): void {
    this.#last.forgetAll();
  }

  /** Scales last, so that what is linked saw its predecessors unscaled and nothing is scaled twice. */
  async #joinPrefix(parts: PrefixParts, userId: string, alpha: number): Promise<Joined> {
    const gathered = await gatherBlocks(this.#workshop, userId, parts);
    const header = gathered.header.cells;
    const linkStart = performance.now();
    const blocks = gathered.blocks.map(({ cells }) => cells);
    const placed = await placeBlocks(this.#mode, this.#workshop, header, blocks);
    const joinStart = placed.linkTokens === 0 ? linkStart : performance.now();
    const scaled = placed.placements.map((placement) => ({ ...placement, alpha }));
    // Turned keys are kept by block: the rest of a linked one is another with every turn.
    const rotated = placed.linkTokens === 0 ? { rotated: this.#workshop.store.rotated } : {};
    const bytes = joinBlocks(header, scaled, { ...this.#join, ...rotated });
    const memoryIds = parts.lines.map(({ memoryId }) => memoryId);
    this.#last.wasInjected(bytes, parts.suffix, userId, memoryIds);
    return {
      gathered,
      placed,
      sizeBytes: bytes.length,
      linkMs: joinStart - linkStart,
      joinMs: performance.now() - joinStart,
    };
  }
}

function describe(
  mode: string,
  alpha: number,
  { lines }: PrefixParts,
  joined: Joined,
): Readonly<Record<string, unknown>> {
  const { gathered, placed, sizeBytes, joinMs } = joined;
  const { header } = gathered;
  return {
    mode,
    alpha,
    header: {
      key: header.key,
      tokens: header.cells.positions.length,
      origin: header.origin,
      computeMs: header.computeMs,
    },
    blocks: gathered.blocks.map(({ key, cells, origin, computeMs }, index) => ({
      memoryId: lines[index]!.memoryId,
      key,
      tokens: cells.positions.length,
      position: placed.positions[index]!,
      origin,
      computeMs,
    })),
    linkTokens: placed.linkTokens,
    sizeBytes,
    joinMs,
  };
}
