/**
 * Keys and values of cells, as an engine holds them: what is exported from a session, joined, transformed and imported
 * again. The order of cells is free; positions may leave gaps or be shared where the engine's capabilities allow it.
 * The token behind an imported state takes the position max(positions) + 1.
 *
 * Arrays are leased: they may be views into memory that is used again after disposal, and properties may be getters of
 * them. Read them when you use them.
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
  /** [cell]; −1 where the heads of a cell hold different tokens, and where the token is not known. */
  readonly tokenIds: Int32Array;
  /** Of each layer [cell][head][dimension], after RoPE, transforms private to the engine undone. */
  readonly keys: readonly Uint8Array[];
  /** Of each layer [cell][head][dimension], or [head][dimension][cell] where the layout says transposed. */
  readonly values: readonly Uint8Array[];
}

/** Number types in which keys and values are stored; their numbers can be read one by one. */
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
  /** True: the values of a layer lie as [head][dimension][cell], else as [cell][head][dimension]. */
  readonly valuesTransposed: boolean;
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

/** Compares every property. */
export function sameLayout(a: KvLayout, b: KvLayout): boolean {
  return (Object.keys(a) as (keyof KvLayout)[]).every((property) => a[property] === b[property]);
}

/**
 * Rotary position embedding of a model: pair j of a head's first `dimensions` numbers is rotated by
 * position · scale · base^(−2j/dimensions) ÷ factors[j] radians.
 * @see RoFormer, arXiv 2104.09864
 */
export interface Rotary {
  readonly base: number;
  /** Multiplies every angle: 1 ÷ factor of linear scaling, 1 without it. */
  readonly scale: number;
  /** `norm` rotates the pairs (2j, 2j+1), `neox` the pairs (j, j + dimensions/2). */
  readonly pairing: 'norm' | 'neox';
  /** Numbers of a head that are rotated, from the first on. */
  readonly dimensions: number;
  /** Divides the angle of pair j (Llama 3 has these); null where the model has none. */
  readonly factors: readonly number[] | null;
}
