import { BenchError } from '../base/bench-error.ts';
import { memoize } from '../base/memoize.ts';
import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from './token-id.ts';

/** Number types of stored keys and values; the index is ggml's number of the type. */
export const numberTypes = ['F32', 'F16'] as const;

export type NumberType = (typeof numberTypes)[number];

/** Shape of the KV of one cell; the same in all layers. */
export interface KvLayout {
  readonly layers: number;
  /** KV heads per layer. */
  readonly heads: number;
  /** Numbers in one head's key, and in its value. */
  readonly headDimension: number;
  readonly keyType: NumberType;
  readonly valueType: NumberType;
  /** True: values of a layer are stored as [head][dimension][cell]. False: as [cell][head][dimension]. */
  readonly valuesTransposed: boolean;
}

/**
 * Keys and values of some cells, exported from a session and to be joined, transformed and imported again. Cells may be in any order.
 * If the engine's capabilities allow it, positions may have gaps or be shared. After an import, the next token takes the position
 * max(positions) + 1.
 *
 * Arrays may be views into memory that is reused after disposal, and properties may be getters: read them again at each use.
 *
 * @example
 * import type { EngineSession } from './engine-session.ts';
 *
 * declare const session: EngineSession;
 * using block = await session.exportCells({ start: 20, end: 45 });
 * const lastPosition = block.positions.at(-1);
 */
export interface SequenceState extends Disposable {
  readonly layout: KvLayout;
  /** [cell], ≥ 0: the position that the cell's keys are rotated for. */
  readonly positions: Int32Array;
  /** [cell]; −1 if the token is unknown, or if the heads of the cell hold different tokens. */
  readonly tokenIds: Int32Array;
  /** [layer] of [cell][head][dimension], after RoPE; engine-specific transforms are undone. */
  readonly keys: readonly Uint8Array[];
  /** [layer] of [cell][head][dimension], or of [head][dimension][cell] if `layout.valuesTransposed`. */
  readonly values: readonly Uint8Array[];
}

/**
 * Rotary position embedding. In the first `dimensions` numbers of each head, pair j is rotated by
 * position · scale · base^(−2j/dimensions) ÷ factors[j] radians.
 * @see RoFormer, arXiv 2104.09864
 */
export interface Rotary {
  readonly base: number;
  /** Multiplies every angle: 1 ÷ factor with linear RoPE scaling, else 1. */
  readonly scale: number;
  /** `norm` rotates the pairs (2j, 2j+1), `neox` the pairs (j, j + dimensions/2). */
  readonly pairing: 'norm' | 'neox';
  /** How many numbers of a head are rotated, counted from the first. */
  readonly dimensions: number;
  /** Divisor of the angle of each pair, as in Llama 3; null if the model has none. */
  readonly factors: readonly number[] | null;
  /** Layers with a sliding window that rotate differently (Gemma 3). Default: all layers rotate alike. */
  readonly windowed?: { readonly layers: readonly number[]; readonly base: number; readonly scale: number };
}

/** The rotation of one layer. The same object for all layers that rotate alike. */
export function layerRotary(rotary: Rotary, layer: number): Rotary {
  return rotary.windowed?.layers.includes(layer) === true ? windowedRotary(rotary) : rotary;
}

const windowedRotary = memoize(({ windowed, ...rotary }: Rotary): Rotary => ({
  ...rotary,
  base: windowed!.base,
  scale: windowed!.scale,
}));

export function numberBytes(type: NumberType): 2 | 4 {
  return type === 'F16' ? 2 : 4;
}

/** Bytes of the keys of one cell in one layer. */
export function keyRowBytes({ heads, headDimension, keyType }: KvLayout): number {
  return heads * headDimension * numberBytes(keyType);
}

/** Bytes of the values of one cell in one layer. */
export function valueRowBytes({ heads, headDimension, valueType }: KvLayout): number {
  return heads * headDimension * numberBytes(valueType);
}

/** Bytes of the keys and values of one cell in all layers. */
export function cellBytes(layout: KvLayout): number {
  return layout.layers * (keyRowBytes(layout) + valueRowBytes(layout));
}

export function sameLayout(a: KvLayout, b: KvLayout): boolean {
  return (Object.keys(a) as (keyof KvLayout)[]).every((property) => a[property] === b[property]);
}

/**
 * Position and token of each cell of a session, in the order in which they were added. Needed because llama.cpp counts positions,
 * not cells: after an import with shared positions it reports free cells where there are none, and throws.
 */
export class SessionCells {
  #cells: { readonly position: number; readonly token: TokenId }[] = [];
  #next = 0;

  get count(): number {
    return this.#cells.length;
  }

  get nextPosition(): number {
    return this.#next;
  }

  get positions(): readonly number[] {
    return this.#cells.map(({ position }) => position);
  }

  get tokenIds(): TokenIds {
    return this.#cells.map(({ token }) => token);
  }

  /** Lowest position of a cell; `nextPosition` if there is no cell. */
  get firstPosition(): number {
    return this.#cells.reduce((lowest, { position }) => Math.min(lowest, position), this.#next);
  }

  /** One more than the highest position below a limit; 0 if there is none. */
  endBelow(limit: number): number {
    return this.#cells.reduce((end, { position }) => (position < limit ? Math.max(end, position + 1) : end), 0);
  }

  /** Replaces all cells. */
  load(positions: ArrayLike<number>, tokens: ArrayLike<TokenId>): void {
    this.#cells = Array.from(positions, (position, cell) => ({ position, token: tokens[cell]! }));
    this.#next = this.endBelow(Infinity);
  }

  /** Adds cells for the tokens after `nextPosition`. @param tokens the whole sequence, from position 0 */
  follow(tokens: TokenIds): void {
    for (; this.#next < tokens.length; this.#next++) {
      this.#cells.push({ position: this.#next, token: tokens[this.#next]! });
    }
  }

  /** Removes the cells in a range of positions; later cells move up by its length. */
  erase(start: number, end: number): void {
    this.#cells = this.#cells
      .filter(({ position }) => position < start || position >= end)
      .map((cell) => (cell.position < start ? cell : { ...cell, position: cell.position - (end - start) }));
    this.#next = this.endBelow(Infinity);
  }

  /** Token at each position; `UNKNOWN_TOKEN` if the position has no cell, or several. */
  tokensByPosition(): TokenId[] {
    const tokens = new Array<TokenId | undefined>(this.#next).fill(undefined);
    for (const { position, token } of this.#cells) {
      tokens[position] = tokens[position] === undefined ? token : UNKNOWN_TOKEN;
    }
    return tokens.map((token) => token ?? UNKNOWN_TOKEN);
  }
}

/** Capacity of a session: more cells than positions if cells may share positions. */
export interface Window {
  readonly contextTokens: number;
  readonly cellTokens: number;
}

/**
 * Throws if tokens do not fit. Evaluation can fill n − 1 cells of a window of n tokens, because the last token is sampled and never
 * evaluated.
 * @param reserve tokens still to come, including the sampled one
 * @throws BenchError `context-overflow`
 */
export function requireSpace(window: Window, cells: number, positions: number, reserve: number): void {
  const { contextTokens, cellTokens } = window;
  if (cells + reserve > cellTokens) throw overflow(cells, reserve, cellTokens);
  if (positions + reserve > contextTokens) throw overflow(positions, reserve, contextTokens);
}

function overflow(tokens: number, reserve: number, windowTokens: number): BenchError {
  const message = `${tokens} tokens and ${reserve} more to come do not fit into a window of ${windowTokens} tokens`;
  const hint = 'shorten the text, keep fewer memories, or raise --context-tokens';
  return new BenchError('context-overflow', message, hint);
}

/** A state in plain, garbage-collected memory: disposing of it does nothing. */
export function ownedState(parts: Omit<SequenceState, typeof Symbol.dispose>): SequenceState {
  return { ...parts, [Symbol.dispose]: () => undefined };
}

/** Bytes of the keys and values of all cells of a state. */
export function kvBytes({ layout, positions }: Pick<SequenceState, 'layout' | 'positions'>): number {
  return positions.length * cellBytes(layout);
}

/** The rows of a layer's values, one a dimension where they are transposed, else a single one, and the bytes of a cell in a row. */
export function valueRows(layout: KvLayout): { readonly rows: number; readonly cellBytes: number } {
  const rows = layout.valuesTransposed ? layout.heads * layout.headDimension : 1;
  return { rows, cellBytes: valueRowBytes(layout) / rows };
}
