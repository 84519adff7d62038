import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineCapabilities } from '../../../engine/engine-capabilities.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import type { PrefillName } from '../../../store/records/arm-traits.ts';
import type { BlockMaking, StoreType } from '../../../store/records/prefill-record.ts';
import { type RecipeName, parseRecipe } from '../../../systems/prefill/join-recipe.ts';
import { selectTokensToRecompute } from '../../../systems/prefill/select-tokens-to-recompute.ts';
import type { InjectedParts } from '../observe/expected-injection.ts';
import {
  cooledCell,
  movedCell,
  type Float64Cell,
  float64Cells,
  restoredCells,
  scaledCell,
  toState,
} from './float64-cells.ts';

export interface ExpectedParts extends Pick<InjectedParts, 'header' | 'lines'> {
  /** Default: blocks see the header, keys are not scaled. */
  readonly making?: BlockMaking | undefined;
  /** Type of the stored KV. Default: the engine's own. */
  readonly keptAs?: StoreType | undefined;
  /** Rank of each memory among the retrieved ones, 0 for the best. Default: their order. */
  readonly ranks?: readonly number[];
  /** Recomputed positions. Default: those that the recipe selects, possible only if its rule needs no scores. */
  readonly recomputed?: readonly TokenRange[];
  /** Reads the first `count` cells of the turn, after which recomputed tokens are evaluated. Default: the expected cells. */
  readonly found?: (count: number) => Promise<SequenceState>;
}

export interface CellMaker {
  readonly engine: Pick<Engine, 'firstLayers'>;
  readonly fresh: FreshCells;
  readonly cells: NonNullable<EngineCapabilities['cells']>;
  readonly leastTokens: number;
  readonly options: CallOptions;
}

/** Evaluates tokens in a session that no arm uses. Cells that arms of one question share are cached until `forget`. */
export class FreshCells {
  readonly #session: EngineSession;
  readonly #cache = new Map<string, SequenceState>();
  /** Tokens at the start of the session that were evaluated together; null if unknown. */
  #front: readonly TokenId[] | null = null;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  /** The cells of tokens evaluated together behind `front`; they live until `forget`, so do not dispose of them. */
  async behind(front: readonly TokenId[], tokens: readonly TokenId[], options: CallOptions = {}) {
    const key = JSON.stringify([front, tokens]);
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const session = this.#session;
    if (front.length > 0 && this.#front?.join() === front.join()) {
      await session.truncate(front.length, options);
    } else {
      this.#front = null;
      await session.clear(options);
      if (front.length > 0) await session.evaluate(front, options);
    }
    await session.evaluate(tokens, options);
    this.#front = front.length === 0 ? tokens : front;
    const range = { start: front.length, end: front.length + tokens.length };
    const state = await session.exportCells(range, options);
    this.#cache.set(key, state);
    return state;
  }

  use(): EngineSession {
    this.#front = null;
    return this.#session;
  }

  forget(): void {
    for (const state of this.#cache.values()) state[Symbol.dispose]();
    this.#cache.clear();
  }
}

/**
 * Computes the cells that an arm must have. Each part is evaluated in another session after the same tokens as its block was, then
 * moved and scaled in 64-bit floats. Recomputed tokens are evaluated after the cells read from the turn, not after the expected
 * ones: the two differ by rounding, which quantised models amplify.
 */
export async function expectedCells(maker: CellMaker, prefill: PrefillName, parts: ExpectedParts, alpha: number) {
  const { header, lines, keptAs = 'f16' } = parts;
  const cells =
    prefill === 'prefix'
      ? restoredCells(await evaluatedBehind(maker, [], [...header, ...lines.flat()]), keptAs, maker.cells.layout)
      : await joinedCells(maker, prefill, parts);
  const isMemory = memoryCells(parts);
  return cells.map((cell, index) => scaledCell(cell, isMemory[index] === true ? alpha : 1));
}

async function joinedCells(maker: CellMaker, prefill: RecipeName, parts: ExpectedParts): Promise<Float64Cell[]> {
  const { header, lines, keptAs = 'f16', making = {} } = parts;
  const { context, temperature = 1, sink } = making;
  const { layout, rotary } = maker.cells;
  const isParallel = parseRecipe(prefill).positions === 'parallel';
  const shared = header.slice(0, sink?.tokens ?? 0);
  const both = [...header, ...shared];
  const [tokens, evaluatedTokens] = context === 'none' ? [shared, header] : [both, both];
  const evaluated = await evaluatedBehind(maker, [], evaluatedTokens);
  const whole = restoredCells(evaluated, keptAs, layout);
  const front = { tokens, cells: whole.slice(0, tokens.length), keptAs };
  const kept = sink?.kept === true ? front.cells.slice(-sink.tokens) : [];
  const cells = whole.slice(0, header.length);
  for (const [index, line] of lines.entries()) {
    const start = isParallel ? header.length : cells.length;
    const neighbour = precedingLine(parts, index);
    const behind = await evaluatedBehindStored(maker, front, [...neighbour, ...line]);
    const block = restoredCells(behind.slice(neighbour.length), keptAs, layout);
    const placed = [...kept, ...block.map((cell) => cooledCell(cell, temperature))];
    cells.push(...placed.map((cell, at) => movedCell(cell, start + at, rotary, layout)));
  }
  return await recomputedCells(maker, cells, parts, parts.recomputed ?? selectedPositions(prefill, parts));
}

export function precedingLine({ lines, making }: ExpectedParts, index: number): readonly TokenId[] {
  return making?.context === 'previous' ? (lines[index - 1] ?? []) : [];
}

async function recomputedCells(
  maker: CellMaker,
  joined: readonly Float64Cell[],
  { header, lines, found }: ExpectedParts,
  ranges: readonly TokenRange[],
): Promise<Float64Cell[]> {
  const cells = [...joined];
  const ids = [...header, ...lines.flat()];
  for (const { start, end } of ranges) {
    const again = ids.slice(start, Math.max(end, start + maker.leastTokens));
    while (again.length < maker.leastTokens) again.push(again.at(-1)!);
    using before = found === undefined ? toState(cells.slice(0, start), maker.cells.layout) : await found(start);
    const behind = await evaluatedBehindCells(maker, before, again);
    cells.splice(start, end - start, ...behind.slice(0, end - start));
  }
  return cells;
}

/** For each injected cell in order: true for cells of memories, false for header and sinks. */
function memoryCells({ header, lines, making }: ExpectedParts): boolean[] {
  const sink = making?.sink?.kept === true ? header.slice(0, making.sink.tokens) : [];
  const line = (ids: readonly TokenId[]): boolean[] => [...sink.map(() => false), ...ids.map(() => true)];
  return [...header.map(() => false), ...lines.flatMap(line)];
}

export function selectedPositions(prefill: RecipeName, { header, lines, ranks }: ExpectedParts): TokenRange[] {
  const { recompute } = parseRecipe(prefill);
  const blocks = lines.map((tokenIds, index) => ({ tokenIds, rank: ranks?.[index] ?? index }));
  const selected = recompute === null ? [] : selectTokensToRecompute(recompute, blocks);
  return selected.map(({ start, end }) => ({ start: header.length + start, end: header.length + end }));
}

export async function evaluatedBehind(
  { fresh, options }: Pick<CellMaker, 'fresh' | 'options'>,
  front: readonly TokenId[],
  tokens: readonly TokenId[],
): Promise<Float64Cell[]> {
  return float64Cells(await fresh.behind(front, tokens, options));
}

/** Evaluates tokens behind stored cells, which may be quantised. */
export async function evaluatedBehindStored(
  maker: CellMaker,
  front: { readonly tokens: readonly TokenId[]; readonly cells: readonly Float64Cell[]; readonly keptAs: StoreType },
  tokens: readonly TokenId[],
): Promise<Float64Cell[]> {
  return front.keptAs === 'f16' || front.tokens.length === 0
    ? await evaluatedBehind(maker, front.tokens, tokens)
    : await evaluatedBehindCells(maker, toState(front.cells, maker.cells.layout), tokens);
}

async function evaluatedBehindCells({ fresh, options }: CellMaker, front: SequenceState, tokens: readonly TokenId[]) {
  const session = fresh.use();
  await session.importCells(front, options);
  await session.evaluate(tokens, options);
  const start = front.positions.length;
  using state = await session.exportCells({ start, end: start + tokens.length }, options);
  return float64Cells(state);
}
