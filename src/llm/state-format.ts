/** The layout of a llama.cpp sequence state of version 3: what reading and writing share. All integers little-endian. */

export const MAGIC = 0x67677371;
export const VERSION = 3;
export const INTEGER_BYTES = 4;
/** Position, number of owners, owner. */
export const CELL_INTEGERS = 3;
/** Types of ggml whose numbers can be read one by one; the index is ggml's own number. */
export const NUMBER_TYPES = ['F32', 'F16'] as const;

/** How a state stores its numbers. */
export type NumberType = (typeof NUMBER_TYPES)[number];

/** What the K/V of every cell of a state looks like, the same in all layers. */
export interface KvLayout {
  readonly layers: number;
  readonly keyType: NumberType;
  readonly valueType: NumberType;
  /** The keys of one cell in one layer. */
  readonly keyRowBytes: number;
  /** The values of one cell in one layer. */
  readonly valueRowBytes: number;
  /** True without flash attention: the values of a layer lie as [dimension][cell], otherwise as [cell][dimension]. */
  readonly valuesTransposed: boolean;
}

/** Where everything lies in a llama.cpp sequence state; offsets and sizes in bytes. */
export interface StateLayout {
  readonly tokenCount: number;
  readonly tokensAt: number;
  /** Sequences of the context that it was saved from, and which of them has the cells. */
  readonly streams: number;
  readonly stream: number;
  readonly sequenceId: number;
  /** The position of each cell. */
  readonly positions: Int32Array;
  readonly kv: KvLayout;
  /** Where the keys and the values of each layer begin. */
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
  readonly sizeBytes: number;
}

/** Bytes of one number. */
export function numberBytes(type: NumberType): 2 | 4 {
  return type === 'F16' ? 2 : 4;
}

/** Bytes of a state with these tokens, cells and layout. */
export function stateBytes(tokens: number, streams: number, cells: number, kv: KvLayout): number {
  const head = (3 + tokens + 1 + streams + cells * CELL_INTEGERS + 2) * INTEGER_BYTES;
  const tensorHead = CELL_INTEGERS * INTEGER_BYTES;
  return head + kv.layers * (2 * tensorHead + cells * (kv.keyRowBytes + kv.valueRowBytes));
}

/** What the head of a state says. */
export interface StateHead {
  readonly tokenIds: Int32Array;
  readonly streams: number;
  readonly stream: number;
  readonly sequenceId: number;
  readonly positions: Int32Array;
  readonly kv: KvLayout;
}

/**
 * Writes everything of a state but its keys and values.
 * @param target exactly `stateBytes` long
 * @returns where the keys and the values of each layer begin
 */
export function writeStateHead(target: Uint8Array, head: StateHead): Pick<StateLayout, 'keysAt' | 'valuesAt'> {
  const { tokenIds, streams, stream, sequenceId, positions, kv } = head;
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const cells = positions.length;
  let offset = 0;
  const put = (value: number): void => {
    view.setInt32(offset, value, true);
    offset += INTEGER_BYTES;
  };
  const putAll = (values: Int32Array): void => {
    target.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), offset);
    offset += values.byteLength;
  };
  [MAGIC, VERSION, tokenIds.length].forEach(put);
  putAll(tokenIds);
  put(streams);
  for (let index = 0; index < stream; index++) put(0);
  put(cells);
  const fields = new Int32Array(cells * CELL_INTEGERS);
  for (let cell = 0; cell < cells; cell++) {
    fields[CELL_INTEGERS * cell] = positions[cell]!;
    fields[CELL_INTEGERS * cell + 1] = 1;
    fields[CELL_INTEGERS * cell + 2] = sequenceId;
  }
  putAll(fields);
  [kv.valuesTransposed ? 1 : 0, kv.layers].forEach(put);
  const putTensors = (type: NumberType, rowBytes: number, transposed: boolean): number[] =>
    Array.from({ length: kv.layers }, () => {
      put(NUMBER_TYPES.indexOf(type));
      if (transposed) [numberBytes(type), rowBytes / numberBytes(type)].forEach(put);
      else [rowBytes, 0].forEach(put);
      const start = offset;
      offset += cells * rowBytes;
      return start;
    });
  const keysAt = putTensors(kv.keyType, kv.keyRowBytes, false);
  const valuesAt = putTensors(kv.valueType, kv.valueRowBytes, kv.valuesTransposed);
  for (let index = stream + 1; index < streams; index++) put(0);
  return { keysAt, valuesAt };
}
