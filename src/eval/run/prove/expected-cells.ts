import type { CallOptions } from '../../../engine/call-options.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineCapabilities } from '../../../engine/engine-capabilities.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import type { PrefillName } from '../../../store/records/arm-traits.ts';
import type { BlockMaking } from '../../../store/records/block-making.ts';
import type { StoreType } from '../../../store/records/store-type.ts';
import { type RecipeName, recipeNamed } from '../../../systems/prefill/join-recipe.ts';
import { selectTokens } from '../../../systems/prefill/select-tokens.ts';
import type { InjectedParts } from '../observe/injected-parts.ts';
import type { FreshCells } from './fresh-cells.ts';
import { cooledCell, movedCell, type PlainCell, plainCells, scaledCell, stateOf } from './plain-cells.ts';
import { restoredCells } from './plain-quantised.ts';

/** The injected parts. */
export interface ExpectedParts extends Pick<InjectedParts, 'header' | 'lines'> {
  /** How its blocks are made. Default: behind the header, keys as they come. */
  readonly making?: BlockMaking | undefined;
  /** The type in which its K/V is kept. Default: the engine's own. */
  readonly keptAs?: StoreType | undefined;
  /** The places of its memories among the retrieved, 0 for the best. Default: in their order. */
  readonly ranks?: readonly number[];
  /** Positions that are recomputed. Default: those of the rule, which must be one that measures no tokens. */
  readonly recomputed?: readonly TokenRange[];
  /** Reads the first so many cells of the turn back. Default: those that are made here. */
  readonly found?: (count: number) => Promise<SequenceState>;
}

/** Cells that are evaluated anew, and what their engine says of them. */
export interface CellMaker {
  readonly engine: Pick<Engine, 'firstLayers'>;
  readonly fresh: FreshCells;
  readonly cells: NonNullable<EngineCapabilities['cells']>;
  /** Of a call. */
  readonly leastTokens: number;
}

/**
 * Makes the cells that an arm must have, anew: every part evaluated in a session that no arm uses, behind what its block is to
 * see, moved by plain 64-bit arithmetic, keys of memories divided by their temperature, values multiplied by α. Tokens that are recomputed are evaluated behind the cells that were found: a
 * difference of one rounding in these, which is compared by itself, grows in the layers of a model with quantised weights.
 */
export async function expectedCells(
  maker: CellMaker,
  prefill: PrefillName,
  parts: ExpectedParts,
  alpha: number,
  options: CallOptions = {},
): Promise<PlainCell[]> {
  const { header, lines } = parts;
  const cells =
    prefill === 'prefix'
      ? restoredCells(
          await evaluatedBehind(maker, [], [...header, ...lines.flat()], options),
          parts.keptAs ?? 'f16',
          maker.cells.layout,
        )
      : await joined(maker, prefill, parts, options);
  const isMemory = memoryCells(parts);
  return cells.map((cell, index) => scaledCell(cell, isMemory[index] === true ? alpha : 1));
}

async function joined(
  maker: CellMaker,
  prefill: RecipeName,
  parts: ExpectedParts,
  options: CallOptions,
): Promise<PlainCell[]> {
  const { header, lines, keptAs = 'f16', making: { context, sink, temperature = 1 } = {} } = parts;
  const shared = header.slice(0, sink?.tokens ?? 0);
  const { layout, rotary } = maker.cells;
  const { positions } = recipeNamed(prefill);
  const first = context === 'none' ? header : [...header, ...shared];
  const whole = restoredCells(await evaluatedBehind(maker, [], first, options), keptAs, layout);
  const seen = first.slice(0, (context === 'none' ? 0 : header.length) + shared.length);
  const front = { tokens: seen, cells: whole.slice(0, seen.length), keptAs };
  const cells = whole.slice(0, header.length);
  for (const [index, line] of lines.entries()) {
    const start = positions === 'parallel' ? header.length : cells.length;
    const neighbour = context === 'previous' ? (lines[index - 1] ?? []) : [];
    const behind = await evaluatedBehindKept(maker, front, [...neighbour, ...line], options);
    const own = restoredCells(behind.slice(neighbour.length), keptAs, layout).map((cell) =>
      cooledCell(cell, temperature),
    );
    const placed = [...(sink?.kept === true ? front.cells.slice(-shared.length) : []), ...own];
    cells.push(...placed.map((cell, at) => movedCell(cell, start + at, rotary, layout)));
  }
  const ids = [...header, ...lines.flat()];
  const found = parts.found ?? ((count: number) => Promise.resolve(stateOf(cells.slice(0, count), layout)));
  for (const { start, end } of parts.recomputed ?? positionsOf(prefill, parts)) {
    const again = ids.slice(start, Math.max(end, start + maker.leastTokens));
    while (again.length < maker.leastTokens) again.push(again.at(-1)!);
    using before = await found(start);
    const behind = await evaluatedBehindCells(maker, before, again, options);
    cells.splice(start, end - start, ...behind.slice(0, end - start));
  }
  return cells;
}

/** Of each cell that is injected, in order: true for one of a memory, false for those in front of them. */
export function memoryCells({ header, lines, making }: ExpectedParts): boolean[] {
  const kept = making?.sink?.kept === true ? header.slice(0, making.sink.tokens) : [];
  const ofLine = (line: readonly TokenId[]): boolean[] => [...kept.map(() => false), ...line.map(() => true)];
  return [...header.map(() => false), ...lines.flatMap(ofLine)];
}

/** The positions that the rule of a recipe selects. */
export function positionsOf(prefill: RecipeName, { header, lines, ranks }: ExpectedParts): TokenRange[] {
  const { recompute } = recipeNamed(prefill);
  const blocks = lines.map((tokenIds, index) => ({ tokenIds, rank: ranks?.[index] ?? index }));
  const selected = recompute === null ? [] : selectTokens(recompute, blocks);
  return selected.map(({ start, end }) => ({ start: header.length + start, end: header.length + end }));
}

/** The cells of tokens that are evaluated behind others as these are kept: in fewer bits where their type has fewer. */
export async function evaluatedBehindKept(
  maker: CellMaker,
  front: { readonly tokens: readonly TokenId[]; readonly cells: readonly PlainCell[]; readonly keptAs: StoreType },
  tokens: readonly TokenId[],
  options: CallOptions,
): Promise<PlainCell[]> {
  return front.keptAs === 'f16' || front.tokens.length === 0
    ? await evaluatedBehind(maker, front.tokens, tokens, options)
    : await evaluatedBehindCells(maker, stateOf(front.cells, maker.cells.layout), tokens, options);
}

/** The cells of tokens that are evaluated behind others. */
export async function evaluatedBehind(
  { fresh }: Pick<CellMaker, 'fresh'>,
  front: readonly TokenId[],
  tokens: readonly TokenId[],
  options: CallOptions,
): Promise<PlainCell[]> {
  return plainCells(await fresh.behind(front, tokens, options));
}

/** The cells of tokens that are evaluated behind given cells. */
async function evaluatedBehindCells(
  { fresh }: Pick<CellMaker, 'fresh'>,
  front: SequenceState,
  tokens: readonly TokenId[],
  options: CallOptions,
): Promise<PlainCell[]> {
  const session = fresh.use();
  await session.importCells(front, options);
  await session.evaluate(tokens, options);
  const start = front.positions.length;
  using state = await session.exportCells({ start, end: start + tokens.length }, options);
  return plainCells(state);
}
