import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { BenchError } from '../config/bench-error.ts';

const MAGIC = 0x67677371;
const VERSION = 3;
const CELL_BYTES = 12;
const F16_BYTES = 2;
const F16 = 1;

/** What a state must agree with to be loaded. */
export interface StateShape {
  readonly layers: number;
  readonly kvHeads: number | undefined;
  readonly headDimension: number;
  readonly valueDimension: number;
  readonly sequences: number;
}

/**
 * Reads the head of a llama.cpp state file and checks that the rest has exactly the length that the head promises:
 * a file cut short inside the values ends the process, and nothing can catch that. It cannot see flipped bytes.
 *
 * @returns the position of each cell
 * @throws BenchError `bad-state` naming the file and what is wrong with it
 */
export function readStatePositions(path: string, shape: StateShape): Int32Array {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (cause) {
    throw new BenchError('bad-state', `${path}: no such K/V state`, 'compute it again', cause);
  }
  try {
    return readContent(new StateReader(path, file), shape);
  } finally {
    closeSync(file);
  }
}

function readContent(reader: StateReader, shape: StateShape): Int32Array {
  const [magic, version, tokenCount] = reader.integers(3);
  if (magic !== MAGIC || version !== VERSION) throw reader.refusal('not a llama.cpp state of version 3');
  reader.skip(tokenCount! * Int32Array.BYTES_PER_ELEMENT);
  const [streams] = reader.integers(1);
  if (streams !== shape.sequences) {
    throw reader.refusal(`made for ${streams} sequences, and the context has ${shape.sequences}`);
  }
  let positions: Int32Array | undefined;
  for (let stream = 0; stream < shape.sequences; stream++) {
    const [cells] = reader.integers(1);
    if (cells === 0) continue;
    if (positions !== undefined) throw reader.refusal('cells in more than one stream');
    positions = readPositions(reader, cells!);
    skipKeysAndValues(reader, cells!, shape);
  }
  if (positions === undefined) throw reader.refusal('it has no cells');
  reader.requireEnd();
  const last = positions.reduce((largest, position) => Math.max(largest, position), -1);
  if (last + 1 !== tokenCount) throw reader.refusal(`${tokenCount} tokens, and the last position is ${last}`);
  return positions;
}

function readPositions(reader: StateReader, cells: number): Int32Array {
  const fields = reader.integers((cells * CELL_BYTES) / Int32Array.BYTES_PER_ELEMENT);
  const positions = new Int32Array(cells);
  for (let cell = 0; cell < cells; cell++) {
    const position = fields[3 * cell]!;
    if (position < 0) throw reader.refusal(`cell ${cell} has the position ${position}, which llama.cpp would ignore`);
    if (fields[3 * cell + 1] !== 1) throw reader.refusal(`cell ${cell} does not belong to exactly one sequence`);
    positions[cell] = position;
  }
  return positions;
}

function skipKeysAndValues(reader: StateReader, cells: number, shape: StateShape): void {
  const heads = shape.kvHeads ?? 0;
  const keyRowBytes = heads * shape.headDimension * F16_BYTES;
  const valueRows = heads * shape.valueDimension;
  const [valuesTransposed, layers] = reader.integers(2);
  if (valuesTransposed !== 1) throw reader.refusal('made with flash attention');
  if (layers !== shape.layers) throw reader.refusal(`${layers} layers, and the model has ${shape.layers}`);
  for (let layer = 0; layer < shape.layers; layer++) {
    const [type, rowBytes] = reader.integers(3);
    if (type !== F16 || rowBytes !== keyRowBytes)
      throw reader.refusal(`the keys of layer ${layer} have another layout`);
    reader.skip(cells * keyRowBytes);
  }
  for (let layer = 0; layer < shape.layers; layer++) {
    const [type, elementBytes, rows] = reader.integers(3);
    if (type !== F16 || elementBytes !== F16_BYTES || rows !== valueRows) {
      throw reader.refusal(`the values of layer ${layer} have another layout`);
    }
    reader.skip(cells * valueRows * F16_BYTES);
  }
}

/** Walks through a file of 32-bit little-endian integers without reading what is skipped. */
class StateReader {
  readonly #path: string;
  readonly #file: number;
  readonly #sizeBytes: number;
  #offset = 0;

  constructor(path: string, file: number) {
    this.#path = path;
    this.#file = file;
    this.#sizeBytes = fstatSync(file).size;
  }

  integers(count: number): Int32Array {
    const start = this.#offset;
    this.skip(count * Int32Array.BYTES_PER_ELEMENT);
    const bytes = Buffer.alloc(count * Int32Array.BYTES_PER_ELEMENT);
    readSync(this.#file, bytes, 0, bytes.length, start);
    return Int32Array.from({ length: count }, (_, index) => bytes.readInt32LE(index * Int32Array.BYTES_PER_ELEMENT));
  }

  skip(bytes: number): void {
    if (bytes < 0 || this.#offset + bytes > this.#sizeBytes) throw this.refusal('cut short');
    this.#offset += bytes;
  }

  requireEnd(): void {
    if (this.#offset !== this.#sizeBytes) throw this.refusal(`${this.#sizeBytes - this.#offset} bytes too long`);
  }

  refusal(why: string): BenchError {
    return new BenchError(
      'bad-state',
      `${this.#path}: unusable K/V state: ${why}`,
      'delete it; it will be computed again',
    );
  }
}
