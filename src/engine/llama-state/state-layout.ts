import { BenchError } from '../../base/bench-error.ts';
import { numberBytes, type NumberType, numberTypes } from '../sequence-state.ts';
import type { StateBytes } from './state-bytes.ts';

export const MAGIC = 0x67677371;
export const INTEGER_BYTES = 4;
/** Position, number of owners, owner. */
export const CELL_INTEGERS = 3;

/** Fields around the cells of a state file: builds of llama.cpp, and llama-server, write more or less of it. */
export interface StateForm {
  /** Version 4 has two words more behind the number of layers: the sizes by which quantised K/V are rotated. */
  readonly version: 3 | 4;
  /** True for llama-server since version 4: a head and a tail of its own stand around the ids. */
  readonly isWrapped: boolean;
}

/** The list of ids of llama-server: a mark, a version and their number stand in front, the number of media behind. */
export const WRAPPED = { mark: -1, version: 1, head: 3, tail: 1 } as const;

/** The K/V of every cell of a state file, the same in all layers. */
export interface FileTensors {
  readonly layers: number;
  readonly keyType: NumberType;
  readonly valueType: NumberType;
  /** The keys of one cell in one layer. */
  readonly keyRowBytes: number;
  /** The values of one cell in one layer. */
  readonly valueRowBytes: number;
  /** True without flash attention: the values of a layer lie as [dimension][cell], else as [cell][dimension]. */
  readonly valuesTransposed: boolean;
}

/** Places of everything in a state file; offsets in bytes. */
export interface StateLayout {
  readonly form: StateForm;
  readonly tokenCount: number;
  readonly tokensAt: number;
  /** The end of the list of ids, whatever stands around them. */
  readonly tokensEnd: number;
  /** Sequences of the context that it was saved from, and which of them has the cells. */
  readonly streams: number;
  readonly stream: number;
  /** The position of each cell. */
  readonly positions: Int32Array;
  readonly tensors: FileTensors;
  /** Beginnings of the keys and the values of each layer. */
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
}

/** ggml's own number of a type. */
export function ggmlType(type: NumberType): number {
  return numberTypes.indexOf(type);
}

/** Models with positions in several dimensions (M-RoPE) write two more integers a cell. */
const EXTENDED_CELL_INTEGERS = 5;
const OTHER_TYPES: Readonly<Record<number, string>> = {
  2: 'Q4_0',
  3: 'Q4_1',
  6: 'Q5_0',
  7: 'Q5_1',
  8: 'Q8_0',
  20: 'IQ4_NL',
  30: 'BF16',
};

/**
 * Walks a llama.cpp sequence state of version 3 or 4 and checks that it ends exactly where its head promises: one that is
 * cut short inside the values ends the process that loads it, and nothing can catch that. It cannot see flipped bytes.
 *
 * @param name names the bytes in a message
 * @throws BenchError `bad-state` naming the bytes and what is wrong: damage, quantised K/V, cells with M-RoPE
 * positions, a second cache (sliding windows, hybrid models), layers that differ
 */
export function readStateLayout(bytes: StateBytes, name: string): StateLayout {
  const walk = new StateWalk(bytes, name);
  const [magic, version, recordCount] = walk.integers(3);
  if (magic !== MAGIC || (version !== 3 && version !== 4))
    throw walk.refusal('not a llama.cpp state of version 3 or 4');
  const record = walk.integers(recordCount!);
  const tokensEnd = walk.offset;
  const isWrapped = record[0] === WRAPPED.mark;
  const tokenCount = isWrapped ? record[2]! : record.length;
  if (isWrapped) requireWrapping(record, walk);
  const tokensAt = tokensEnd - (isWrapped ? tokenCount + WRAPPED.tail : tokenCount) * INTEGER_BYTES;
  const [streams] = walk.integers(1);
  let content: Pick<StateLayout, 'stream' | 'positions' | 'tensors' | 'keysAt' | 'valuesAt'> | undefined;
  for (let stream = 0; stream < streams!; stream++) {
    const [cells] = walk.integers(1);
    if (cells === 0) continue;
    if (content !== undefined) throw walk.refusal('cells in more than one stream');
    content = { stream, positions: readPositions(walk, cells!), ...readKeysAndValues(walk, cells!, version) };
  }
  if (content === undefined) throw walk.refusal('it has no cells');
  requireEnd(walk, streams!);
  const last = content.positions.reduce((largest, position) => Math.max(largest, position), -1);
  if (last + 1 !== tokenCount) throw walk.refusal(`${tokenCount} tokens, and the last position is ${last}`);
  return { form: { version, isWrapped }, tokenCount, tokensAt, tokensEnd, streams: streams!, ...content };
}

function requireWrapping(record: Int32Array, walk: StateWalk): void {
  const [, version, count] = record;
  const whole = version === WRAPPED.version && record.length === count! + WRAPPED.head + WRAPPED.tail;
  if (!whole || record.at(-1) !== 0) throw walk.refusal('its list of tokens is not one of texts alone');
}

function readPositions(walk: StateWalk, cells: number): Int32Array {
  const start = walk.offset;
  const fields = walk.integers(cells * CELL_INTEGERS);
  const positions = new Int32Array(cells);
  const firstOwner = fields[2];
  for (let cell = 0; cell < cells; cell++) {
    const position = fields[CELL_INTEGERS * cell]!;
    const owners = fields[CELL_INTEGERS * cell + 1];
    const owner = fields[CELL_INTEGERS * cell + 2];
    if (owners !== 1 && hasExtendedCells(walk, start, cells)) {
      throw walk.refusal('its cells have positions in several dimensions (M-RoPE)', UNSUPPORTED_MODEL);
    }
    if (owners !== 1) throw walk.refusal(`cell ${cell} does not belong to exactly one sequence`);
    if (owner !== firstOwner) throw walk.refusal(`cell ${cell} belongs to another sequence than cell 0`);
    if (position < 0) throw walk.refusal(`cell ${cell} has the position ${position}, which llama.cpp would ignore`);
    positions[cell] = position;
  }
  return positions;
}

function hasExtendedCells(walk: StateWalk, start: number, cells: number): boolean {
  const integers = cells * EXTENDED_CELL_INTEGERS;
  if (start + integers * INTEGER_BYTES > walk.sizeBytes) return false;
  const fields = walk.integersAt(start, integers);
  return Array.from({ length: cells }, (_, cell) => fields[EXTENDED_CELL_INTEGERS * cell + 1]).every(
    (owners) => owners === 1,
  );
}

interface OneKind {
  readonly type: NumberType;
  readonly rowBytes: number;
  readonly starts: readonly number[];
}

function readKeysAndValues(
  walk: StateWalk,
  cells: number,
  version: StateForm['version'],
): Pick<StateLayout, 'tensors' | 'keysAt' | 'valuesAt'> {
  const [transposed, layers] = walk.integers(2);
  if (transposed !== 0 && transposed !== 1) throw walk.refusal(`an unknown order of values, ${transposed}`);
  if (layers! < 1) throw walk.refusal(`${layers} layers`);
  if (version === 4 && walk.integers(2).some((size) => size !== 0)) {
    throw walk.refusal(
      'its keys or values are rotated by llama.cpp itself, by a Hadamard matrix as quantised ones are',
      'keep K/V in F16 or F32',
    );
  }
  const keys = readTensors(walk, 'keys', layers!, cells, false);
  const values = readTensors(walk, 'values', layers!, cells, transposed === 1);
  const tensors: FileTensors = {
    layers: layers!,
    keyType: keys.type,
    valueType: values.type,
    keyRowBytes: keys.rowBytes,
    valueRowBytes: values.rowBytes,
    valuesTransposed: transposed === 1,
  };
  return { tensors, keysAt: keys.starts, valuesAt: values.starts };
}

function readTensors(walk: StateWalk, what: string, layers: number, cells: number, transposed: boolean): OneKind {
  const starts: number[] = [];
  let common: Omit<OneKind, 'starts'> | undefined;
  for (let layer = 0; layer < layers; layer++) {
    const [typeNumber, low, high] = walk.integers(3);
    const type = numberTypes[typeNumber!];
    if (type === undefined) {
      const name = OTHER_TYPES[typeNumber!] ?? `of type ${typeNumber}`;
      throw walk.refusal(`the ${what} of layer ${layer} are ${name}`, 'keep K/V in F16 or F32');
    }
    const bytes = numberBytes(type);
    // Transposed: bytes of a number, then rows; otherwise the bytes of a row in 64 bits.
    const rowBytes = transposed ? bytes * (high! >>> 0) : (low! >>> 0) + (high! >>> 0) * 2 ** 32;
    common ??= { type, rowBytes };
    const whole = rowBytes > 0 && rowBytes % bytes === 0 && (!transposed || low === bytes);
    if (!whole || type !== common.type || rowBytes !== common.rowBytes) {
      throw walk.refusal(`the ${what} of layer ${layer} have another layout`);
    }
    starts.push(walk.skip(cells * rowBytes));
  }
  return { ...common!, starts };
}

/** A model with sliding windows or with recurrent layers writes a second cache, which counts its streams as well. */
function requireEnd(walk: StateWalk, streams: number): void {
  const rest = walk.sizeBytes - walk.offset;
  if (rest === 0) return;
  if (rest > INTEGER_BYTES && walk.integers(1)[0] === streams) {
    throw walk.refusal('it has a second cache (sliding-window attention or a hybrid model)', UNSUPPORTED_MODEL);
  }
  throw walk.refusal(`${rest} bytes too long`);
}

const UNSUPPORTED_MODEL = 'take a model whose K/V can be moved: architecture llama, qwen2 or qwen3';

/** Reads integers one after the other and skips what is not needed, never beyond the end. */
class StateWalk {
  readonly #bytes: StateBytes;
  readonly #name: string;
  #offset = 0;

  constructor(bytes: StateBytes, name: string) {
    this.#bytes = bytes;
    this.#name = name;
  }

  get offset(): number {
    return this.#offset;
  }

  get sizeBytes(): number {
    return this.#bytes.sizeBytes;
  }

  integers(count: number): Int32Array {
    return this.integersAt(this.skip(count * INTEGER_BYTES), count);
  }

  /** Little-endian, as every machine is that runs here. */
  integersAt(offset: number, count: number): Int32Array {
    return new Int32Array(this.#bytes.copy(offset, count * INTEGER_BYTES).buffer);
  }

  /** Gives the offset where the skipped bytes begin. */
  skip(bytes: number): number {
    const start = this.#offset;
    if (bytes < 0 || start + bytes > this.sizeBytes) throw this.refusal('cut short');
    this.#offset += bytes;
    return start;
  }

  refusal(why: string, hint = 'delete it; it will be computed again'): BenchError {
    return new BenchError('bad-state', `${this.#name}: unusable K/V state: ${why}`, hint);
  }
}
