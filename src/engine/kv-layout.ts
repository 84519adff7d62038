/** Number types in which keys and values are stored; their numbers can be read one by one. */
export const numberTypes = ['F32', 'F16'] as const;

export type NumberType = (typeof numberTypes)[number];

/** The shape of the K/V of one cell, the same in all layers. */
export interface KvLayout {
  readonly layers: number;
  /** K/V heads of a layer. */
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
