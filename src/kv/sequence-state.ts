import { type KvLayout, stateBytes, type StateHead, writeStateHead } from '../llm/state-format.ts';
import { readStateLayout } from '../llm/state-layout.ts';

const INTEGER_BYTES = 4;

/** Cells of a sequence: tokens, positions, and K/V of each layer as llama.cpp stores them. */
export interface KvCells {
  readonly layout: KvLayout;
  /** The token of each cell. */
  readonly tokenIds: Int32Array;
  /** The position at which each cell was evaluated: its keys are turned by it. */
  readonly positions: Int32Array;
  /** Of each layer, [cell][number]. */
  readonly keys: readonly Uint8Array[];
  /** Of each layer, [number][cell] where the layout says transposed, otherwise [cell][number]. */
  readonly values: readonly Uint8Array[];
}

/** A llama.cpp sequence state, as views into its bytes. */
export interface SequenceState {
  readonly cells: KvCells;
  /** The token at each position, from 0 to the last: what llama.cpp reports as the sequence. */
  readonly tokenIds: Int32Array;
  /** Sequences of the context that it was saved from, and which of them has the cells. */
  readonly streams: number;
  readonly stream: number;
  readonly sequenceId: number;
}

/**
 * Reads a state that llama.cpp saved. Keys and values are views into the bytes, not copies.
 * @param name what a message calls the bytes
 * @throws BenchError `bad-state` naming what is damaged or not supported
 */
export function parseSequenceState(bytes: Uint8Array, name = 'K/V state'): SequenceState {
  const integers = (offset: number, count: number): Int32Array =>
    new Int32Array(new Uint8Array(bytes.subarray(offset, offset + count * INTEGER_BYTES)).buffer);
  const state = readStateLayout({ name, sizeBytes: bytes.length, integers });
  const { positions, kv } = state;
  const tokenIds = integers(state.tokensAt, state.tokenCount);
  // Not `subarray`: of a Buffer it gives Buffers, whose `slice` does not copy.
  const viewsOf = (starts: readonly number[], rowBytes: number): Uint8Array[] =>
    starts.map((start) => new Uint8Array(bytes.buffer, bytes.byteOffset + start, positions.length * rowBytes));
  return {
    cells: {
      layout: kv,
      tokenIds: positions.map((position) => tokenIds[position]!),
      positions,
      keys: viewsOf(state.keysAt, kv.keyRowBytes),
      values: viewsOf(state.valuesAt, kv.valueRowBytes),
    },
    tokenIds,
    streams: state.streams,
    stream: state.stream,
    sequenceId: state.sequenceId,
  };
}

/** A state whose keys and values are still to be filled in. */
export interface UnfilledState {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where the keys and the values of each layer begin. */
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
}

/**
 * Makes room for a state of exactly the size that it needs and writes its head; K/V are not cleared.
 * @param allocate gives memory of that size, which need not be cleared
 */
export function allocateState(
  head: StateHead,
  allocate: (sizeBytes: number) => Uint8Array<ArrayBuffer> = ownMemory,
): UnfilledState {
  const { kv, positions } = head;
  const bytes = allocate(stateBytes(head.tokenIds.length, head.streams, positions.length, kv));
  return { bytes, ...writeStateHead(bytes, head) };
}

function ownMemory(sizeBytes: number): Uint8Array<ArrayBuffer> {
  const pooled = Buffer.allocUnsafeSlow(sizeBytes);
  return new Uint8Array(pooled.buffer, pooled.byteOffset, sizeBytes);
}

/** The bytes of a state; for one that was parsed, the very bytes that it was parsed from. */
export function writeSequenceState({ cells, ...head }: SequenceState): Uint8Array<ArrayBuffer> {
  const target = allocateState({ ...head, positions: cells.positions, kv: cells.layout });
  cells.keys.forEach((keys, layer) => target.bytes.set(keys, target.keysAt[layer]));
  cells.values.forEach((values, layer) => target.bytes.set(values, target.valuesAt[layer]));
  return target.bytes;
}
