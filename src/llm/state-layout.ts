import { BenchError } from '../config/bench-error.ts';
import {
  CELL_INTEGERS,
  INTEGER_BYTES,
  type KvLayout,
  MAGIC,
  NUMBER_TYPES,
  numberBytes,
  type NumberType,
  type StateLayout,
  VERSION,
} from './state-format.ts';

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

/** Bytes that can be read by offset, with the name that they have in a message. */
export interface StateBytes {
  readonly name: string;
  readonly sizeBytes: number;
  /** 32-bit integers, of little-endian bytes as every machine that runs here has them; never asked for beyond the end. */
  integers(offset: number, count: number): Int32Array;
}

/**
 * Walks a llama.cpp sequence state of version 3 and checks that it ends exactly where its head promises: one that is
 * cut short inside the values ends the process that loads it, and nothing can catch that. It cannot see flipped bytes.
 *
 * @throws BenchError `bad-state` naming the bytes and what is wrong: damage, quantised K/V, cells with M-RoPE
 * positions, a second cache (sliding windows, hybrid models), layers that differ
 */
export function readStateLayout(bytes: StateBytes): StateLayout {
  const walk = new StateWalk(bytes);
  const [magic, version, tokenCount] = walk.integers(3);
  if (magic !== MAGIC || version !== VERSION) throw walk.refusal('not a llama.cpp state of version 3');
  const tokensAt = walk.skip(tokenCount! * INTEGER_BYTES);
  const [streams] = walk.integers(1);
  let content: Omit<StateLayout, 'tokenCount' | 'tokensAt' | 'streams' | 'sizeBytes'> | undefined;
  for (let stream = 0; stream < streams!; stream++) {
    const [cells] = walk.integers(1);
    if (cells === 0) continue;
    if (content !== undefined) throw walk.refusal('cells in more than one stream');
    content = { stream, ...readCells(walk, cells!), ...readKeysAndValues(walk, cells!) };
  }
  if (content === undefined) throw walk.refusal('it has no cells');
  requireEnd(walk, streams!);
  const last = content.positions.reduce((largest, position) => Math.max(largest, position), -1);
  if (last + 1 !== tokenCount) throw walk.refusal(`${tokenCount} tokens, and the last position is ${last}`);
  return { tokenCount, tokensAt, streams: streams!, ...content, sizeBytes: bytes.sizeBytes };
}

function readCells(walk: StateWalk, cells: number): Pick<StateLayout, 'positions' | 'sequenceId'> {
  const start = walk.offset;
  const fields = walk.integers(cells * CELL_INTEGERS);
  const positions = new Int32Array(cells);
  const sequenceId = fields[2]!;
  for (let cell = 0; cell < cells; cell++) {
    const position = fields[CELL_INTEGERS * cell]!;
    const owners = fields[CELL_INTEGERS * cell + 1];
    const owner = fields[CELL_INTEGERS * cell + 2];
    if (owners !== 1 && hasExtendedCells(walk, start, cells)) {
      throw walk.refusal('its cells have positions in several dimensions (M-RoPE)', UNSUPPORTED_MODEL);
    }
    if (owners !== 1) throw walk.refusal(`cell ${cell} does not belong to exactly one sequence`);
    if (owner !== sequenceId) throw walk.refusal(`cell ${cell} belongs to another sequence than cell 0`);
    if (position < 0) throw walk.refusal(`cell ${cell} has the position ${position}, which llama.cpp would ignore`);
    positions[cell] = position;
  }
  return { positions, sequenceId };
}

function hasExtendedCells(walk: StateWalk, start: number, cells: number): boolean {
  const integers = cells * EXTENDED_CELL_INTEGERS;
  if (start + integers * INTEGER_BYTES > walk.sizeBytes) return false;
  const fields = walk.integersAt(start, integers);
  return Array.from({ length: cells }, (_, cell) => fields[EXTENDED_CELL_INTEGERS * cell + 1]).every(
    (owners) => owners === 1,
  );
}

interface Tensors {
  readonly type: NumberType;
  readonly rowBytes: number;
  readonly starts: readonly number[];
}

function readKeysAndValues(walk: StateWalk, cells: number): Pick<StateLayout, 'kv' | 'keysAt' | 'valuesAt'> {
  const [transposed, layers] = walk.integers(2);
  if (transposed !== 0 && transposed !== 1) throw walk.refusal(`an unknown order of values, ${transposed}`);
  if (layers! < 1) throw walk.refusal(`${layers} layers`);
  const keys = readTensors(walk, 'keys', layers!, cells, false);
  const values = readTensors(walk, 'values', layers!, cells, transposed === 1);
  const kv: KvLayout = {
    layers: layers!,
    keyType: keys.type,
    valueType: values.type,
    keyRowBytes: keys.rowBytes,
    valueRowBytes: values.rowBytes,
    valuesTransposed: transposed === 1,
  };
  return { kv, keysAt: keys.starts, valuesAt: values.starts };
}

function readTensors(walk: StateWalk, what: string, layers: number, cells: number, transposed: boolean): Tensors {
  const starts: number[] = [];
  let common: Omit<Tensors, 'starts'> | undefined;
  for (let layer = 0; layer < layers; layer++) {
    const [typeNumber, low, high] = walk.integers(3);
    const type = NUMBER_TYPES[typeNumber!];
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
  #offset = 0;

  constructor(bytes: StateBytes) {
    this.#bytes = bytes;
  }

  get offset(): number {
    return this.#offset;
  }

  get sizeBytes(): number {
    return this.#bytes.sizeBytes;
  }

  integers(count: number): Int32Array {
    return this.#bytes.integers(this.skip(count * INTEGER_BYTES), count);
  }

  integersAt(offset: number, count: number): Int32Array {
    return this.#bytes.integers(offset, count);
  }

  /** Gives the offset where the skipped bytes begin. */
  skip(bytes: number): number {
    const start = this.#offset;
    if (bytes < 0 || start + bytes > this.sizeBytes) throw this.refusal('cut short');
    this.#offset += bytes;
    return start;
  }

  refusal(why: string, hint = 'delete it; it will be computed again'): BenchError {
    return new BenchError('bad-state', `${this.#bytes.name}: unusable K/V state: ${why}`, hint);
  }
}
