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
  /** [pair]: divides its angle, as in Llama 3; null if the model has none. */
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
