import type { CallOptions } from '../../../engine/call-options.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineCapabilities } from '../../../engine/engine-capabilities.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import type { PrefillName } from '../../../records/arm-traits.ts';
import { type RecipeName, recipeNamed } from '../../../systems/prefill/join-recipe.ts';
import { selectTokens } from '../../../systems/prefill/select-tokens.ts';
import type { InjectedParts } from '../observe/injected-parts.ts';
import { movedCell, type PlainCell, plainCells, scaledCell, stateOf } from './plain-cells.ts';

/** What is injected. */
export interface ExpectedParts extends Pick<InjectedParts, 'header' | 'lines'> {
  /** The places of its memories among the retrieved, 0 for the best. Default: in their order. */
  readonly ranks?: readonly number[];
  /** Positions that are recomputed. Default: those of the rule, which must be one that measures no tokens. */
  readonly recomputed?: readonly TokenRange[];
  /** The cells of the turn, read back. Default: those that are made here. */
  readonly found?: readonly PlainCell[];
}

/** A session to evaluate in, and the cells of its engine. */
export interface CellMaker {
  readonly engine: Pick<Engine, 'firstLayers'>;
  readonly scoring: EngineSession;
  readonly cells: NonNullable<EngineCapabilities['cells']>;
  /** Of a call. */
  readonly leastTokens: number;
}

/**
 * Makes the cells that an arm must have, anew: every part evaluated in a session that no arm uses, moved by plain 64-bit
 * arithmetic, values of memories multiplied by α. Tokens that are recomputed are evaluated behind the cells that were found: a
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
      ? await evaluated(maker, [], [...header, ...lines.flat()], options)
      : await joined(maker, prefill, parts, options);
  return cells.map((cell, index) => scaledCell(cell, index < header.length ? 1 : alpha));
}

async function joined(
  maker: CellMaker,
  prefill: RecipeName,
  parts: ExpectedParts,
  options: CallOptions,
): Promise<PlainCell[]> {
  const { header, lines } = parts;
  const { layout, rotary } = maker.cells;
  const { positions } = recipeNamed(prefill);
  const first = await evaluated(maker, [], header, options);
  const cells = [...first];
  for (const line of lines) {
    const start = positions === 'parallel' ? header.length : cells.length;
    const alone = (await evaluated(maker, first, line, options)).slice(header.length);
    cells.push(...alone.map((cell, at) => movedCell(cell, start + at, rotary, layout)));
  }
  const ids = [...header, ...lines.flat()];
  for (const { start, end } of parts.recomputed ?? positionsOf(prefill, parts)) {
    const again = ids.slice(start, Math.max(end, start + maker.leastTokens));
    while (again.length < maker.leastTokens) again.push(again.at(-1)!);
    const anew = await evaluated(maker, (parts.found ?? cells).slice(0, start), again, options);
    cells.splice(start, end - start, ...anew.slice(start, end));
  }
  return cells;
}

/** The positions that the rule of a recipe selects. */
export function positionsOf(prefill: RecipeName, { header, lines, ranks }: ExpectedParts): TokenRange[] {
  const { recompute } = recipeNamed(prefill);
  const blocks = lines.map((tokenIds, index) => ({ tokenIds, rank: ranks?.[index] ?? index }));
  const selected = recompute === null ? [] : selectTokens(recompute, blocks);
  return selected.map(({ start, end }) => ({ start: header.length + start, end: header.length + end }));
}

/** The cells of tokens behind others, and these. */
async function evaluated(
  { scoring, cells: { layout } }: CellMaker,
  before: readonly PlainCell[],
  tokens: readonly TokenId[],
  options: CallOptions,
): Promise<PlainCell[]> {
  if (before.length === 0) await scoring.clear(options);
  else await scoring.importCells(stateOf(before, layout), options);
  await scoring.evaluate(tokens, options);
  using state = await scoring.exportCells(undefined, options);
  return plainCells(state);
}
