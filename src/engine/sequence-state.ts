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
