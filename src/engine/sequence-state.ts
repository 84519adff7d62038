import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from './token-id.ts';

/** Types in which keys and values are stored, in the order of ggml's numbers for them. */
export const numberTypes = ['F32', 'F16'] as const;

export type NumberType = (typeof numberTypes)[number];

/** The shape of the KV of one cell, the same in all layers. */
export interface KvLayout {
  readonly layers: number;
  /** KV heads of a layer. */
  readonly heads: number;
  /** Numbers in the key, and in the value, of one head. */
  readonly headDimension: number;
  readonly keyType: NumberType;
  readonly valueType: NumberType;
  /** True: the values of a layer are [head][dimension][cell], else [cell][head][dimension]. */
  readonly valuesTransposed: boolean;
}

/**
 * Keys and values of cells, as an engine holds them: exported from a session, joined, transformed and imported again. The
 * order of cells is free; positions may leave gaps or be shared where the engine's capabilities allow it. The token behind an
 * imported state takes the position max(positions) + 1.
 *
 * Arrays may be views into memory that is reused after disposal, and properties may be getters: read them when you use them.
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
  /** [cell], ≥ 0: the position by which the cell's keys are rotated. */
  readonly positions: Int32Array;
  /** [cell]; −1 where the heads of a cell hold different tokens, and where the token is unknown. */
  readonly tokenIds: Int32Array;
  /** [layer] of [cell][head][dimension], after RoPE, without transforms private to the engine. */
  readonly keys: readonly Uint8Array[];
  /** [layer] of [cell][head][dimension], or of [head][dimension][cell] where the layout is transposed. */
  readonly values: readonly Uint8Array[];
}

/**
 * Rotary position embedding: pair j of a head's first `dimensions` numbers is rotated by
 * position · scale · base^(−2j/dimensions) ÷ factors[j] radians.
 * @see RoFormer, arXiv 2104.09864
 */
export interface Rotary {
  readonly base: number;
  /** Multiplies every angle: 1 ÷ factor of linear scaling, else 1. */
  readonly scale: number;
  /** `norm` rotates the pairs (2j, 2j+1), `neox` the pairs (j, j + dimensions/2). */
  readonly pairing: 'norm' | 'neox';
  /** Rotated numbers of a head, from the first on. */
  readonly dimensions: number;
  /** Divides the angle of pair j, for example in Llama 3; null where the model has none. */
  readonly factors: readonly number[] | null;
}

/** Bytes of one number. */
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
 * The cells of a session in the order in which they came. llama.cpp counts positions, and imported cells may share
 * positions or leave some out: it then says that cells are free, and throws where there is none.
 */
export class SessionCells {
  #cells: { readonly position: number; readonly token: TokenId }[] = [];
  #next = 0;

  get count(): number {
    return this.#cells.length;
  }

  /** The position that the next token takes. */
  get nextPosition(): number {
    return this.#next;
  }

  get positions(): readonly number[] {
    return this.#cells.map(({ position }) => position);
  }

  get tokenIds(): TokenIds {
    return this.#cells.map(({ token }) => token);
  }

  /** The lowest position that a cell has; that of the next token where there is no cell. */
  get firstPosition(): number {
    return this.#cells.reduce((lowest, { position }) => Math.min(lowest, position), this.#next);
  }

  /** The position behind the last cell below a limit; 0 where there is none. */
  endBelow(limit: number): number {
    return this.#cells.reduce((end, { position }) => (position < limit ? Math.max(end, position + 1) : end), 0);
  }

  /** Replaces all cells. */
  load(positions: ArrayLike<number>, tokens: ArrayLike<TokenId>): void {
    this.#cells = Array.from(positions, (position, cell) => ({ position, token: tokens[cell]! }));
    this.#next = this.endBelow(Infinity);
  }

  /** Adds a cell for each token that llama.cpp has behind those that are known. */
  follow(tokens: TokenIds): void {
    for (; this.#next < tokens.length; this.#next++) {
      this.#cells.push({ position: this.#next, token: tokens[this.#next]! });
    }
  }

  /** Removes the cells of a range of positions; those behind it move up by its length. */
  erase(start: number, end: number): void {
    this.#cells = this.#cells
      .filter(({ position }) => position < start || position >= end)
      .map((cell) => (cell.position < start ? cell : { ...cell, position: cell.position - (end - start) }));
    this.#next = this.endBelow(Infinity);
  }

  /** The token at each position, `UNKNOWN_TOKEN` where no cell has it, or several have. */
  tokensByPosition(): TokenId[] {
    const tokens = new Array<TokenId | undefined>(this.#next).fill(undefined);
    for (const { position, token } of this.#cells) {
      tokens[position] = tokens[position] === undefined ? token : UNKNOWN_TOKEN;
    }
    return tokens.map((token) => token ?? UNKNOWN_TOKEN);
  }
}
