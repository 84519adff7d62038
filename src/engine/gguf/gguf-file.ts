import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';

/** Kinds of value in the order of their numbers, with the least bytes of each. */
const KINDS = [
  { kind: 'uint8', bytes: 1, read: (bytes: Buffer) => bytes.readUInt8() },
  { kind: 'int8', bytes: 1, read: (bytes: Buffer) => bytes.readInt8() },
  { kind: 'uint16', bytes: 2, read: (bytes: Buffer) => bytes.readUInt16LE() },
  { kind: 'int16', bytes: 2, read: (bytes: Buffer) => bytes.readInt16LE() },
  { kind: 'uint32', bytes: 4, read: (bytes: Buffer) => bytes.readUInt32LE() },
  { kind: 'int32', bytes: 4, read: (bytes: Buffer) => bytes.readInt32LE() },
  { kind: 'float32', bytes: 4, read: (bytes: Buffer) => bytes.readFloatLE() },
  { kind: 'bool', bytes: 1, read: (bytes: Buffer) => bytes.readUInt8() !== 0 },
  { kind: 'text', bytes: 8, read: null },
  { kind: 'list', bytes: 12, read: null },
  { kind: 'uint64', bytes: 8, read: (bytes: Buffer) => Number(bytes.readBigUInt64LE()) },
  { kind: 'int64', bytes: 8, read: (bytes: Buffer) => Number(bytes.readBigInt64LE()) },
  { kind: 'float64', bytes: 8, read: (bytes: Buffer) => bytes.readDoubleLE() },
] as const;
const MAGIC = 'GGUF';
const VERSIONS = [2, 3];
const MOST_DIMENSIONS = 4;
/** The least bytes of a key with a value, and of the description of a tensor. */
const LEAST_PAIR_BYTES = 8 + 4 + 1;
const LEAST_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8;
const DEFAULT_ALIGNMENT = 32;
const WINDOW_BYTES = 2 ** 20;

export type GgufKind = (typeof KINDS)[number]['kind'];
export type GgufScalar = number | string | boolean;

/** A list of values of one kind. */
export interface GgufList {
  readonly kind: GgufKind;
  readonly values: readonly GgufScalar[];
}

export interface GgufPair {
  readonly kind: GgufKind;
  readonly value: GgufScalar | GgufList;
  /** Of its value, in the file. */
  readonly fileOffset: number;
}

/** The description of a tensor. */
export interface GgufTensorInfo {
  readonly name: string;
  readonly dimensions: readonly number[];
  /** GGML's number of the type. */
  readonly type: number;
  /** Of its first byte, in the file. */
  readonly fileOffset: number;
}

/** Everything in a GGUF file before the numbers of its tensors. */
export interface GgufFile {
  readonly path: string;
  readonly metadata: ReadonlyMap<string, GgufPair>;
  /** Offsets of the metadata in the file, first and behind the last byte. */
  readonly metadataBytes: { readonly start: number; readonly end: number };
  /** Every tensor begins at a multiple of it, counted from where the first may begin. */
  readonly alignment: number;
  readonly tensors: readonly GgufTensorInfo[];
}

/**
 * Reads a GGUF file up to the numbers of its tensors. Every length is compared with the size of the file first, so that no
 * file makes this wait or fill the memory.
 *
 * @throws BenchError `bad-model` where it is no GGUF file of version 2 or 3, or is malformed
 * @see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function readGgufFile(path: string): GgufFile {
  try {
    using cursor = new Cursor(path);
    return read(path, cursor);
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    if (cause instanceof CutShort) throw refusal(path, 'not a complete GGUF file', cause);
    const { code } = cause as NodeJS.ErrnoException;
    throw new BenchError('bad-model', `${path} cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
}

/** The error for a file that cannot be a model. */
export function refusal(path: string, why: string, cause?: unknown): BenchError {
  const hint = 'name a language model in GGUF format; if it was downloaded, download it again';
  return new BenchError('bad-model', `${path}: ${why}`, hint, cause);
}

/** 32 bits in GGUF's byte order, little-endian. */
export function u32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

/** 64 bits; a negative number in two's complement. */
export function u64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt.asUintN(64, BigInt(value))).buffer);
}

/** A text: its length in bytes, then its bytes in UTF-8. */
export function lengthAndText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function read(path: string, cursor: Cursor): GgufFile {
  if (cursor.take(MAGIC.length).toString('latin1') !== MAGIC) throw new CutShort();
  const version = cursor.uint32();
  if (!VERSIONS.includes(version)) throw refusal(path, `GGUF of version ${version}, expected ${VERSIONS.join(' or ')}`);
  const [tensorCount, pairCount] = [cursor.uint64(), cursor.uint64()];
  cursor.requireSpace(pairCount, LEAST_PAIR_BYTES);
  const metadata = new Map<string, GgufPair>();
  const start = cursor.position;
  for (let index = 0; index < pairCount; index++) {
    const key = cursor.text();
    if (metadata.has(key)) throw refusal(path, `its header has ${JSON.stringify(key)} twice`);
    metadata.set(key, readPair(path, key, cursor));
  }
  const metadataBytes = { start, end: cursor.position };
  cursor.requireSpace(tensorCount, LEAST_TENSOR_BYTES);
  const relative: GgufTensorInfo[] = [];
  for (let index = 0; index < tensorCount; index++) relative.push(readTensor(path, cursor));
  const alignment = readAlignment(path, metadata);
  const begin = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = relative.map((tensor) => ({ ...tensor, fileOffset: begin + tensor.fileOffset }));
  if (tensors.some(({ fileOffset }) => fileOffset >= cursor.sizeBytes)) throw new CutShort();
  return { path, metadata, metadataBytes, alignment, tensors };
}

function readPair(path: string, key: string, cursor: Cursor): GgufPair {
  const readKind = (): (typeof KINDS)[number] => {
    const found = KINDS[cursor.uint32()];
    if (found === undefined) throw refusal(path, `its header has a value of unknown type under ${JSON.stringify(key)}`);
    return found;
  };
  const kind = readKind();
  const fileOffset = cursor.position;
  if (kind.kind !== 'list') return { kind: kind.kind, value: readScalar(kind, cursor), fileOffset };
  const element = readKind();
  if (element.kind === 'list') throw refusal(path, `its header has lists of lists under ${JSON.stringify(key)}`);
  const count = cursor.uint64();
  cursor.requireSpace(count, element.bytes);
  const values: GgufScalar[] = [];
  for (let index = 0; index < count; index++) values.push(readScalar(element, cursor));
  return { kind: 'list', value: { kind: element.kind, values }, fileOffset };
}

function readScalar({ bytes, read: readBytes }: (typeof KINDS)[number], cursor: Cursor): GgufScalar {
  return readBytes === null ? cursor.text() : readBytes(cursor.take(bytes));
}

function readTensor(path: string, cursor: Cursor): GgufTensorInfo {
  const name = cursor.text();
  const rank = cursor.uint32();
  if (rank < 1 || rank > MOST_DIMENSIONS) {
    throw refusal(path, `tensor ${JSON.stringify(name)} has ${rank} dimensions, expected 1 to ${MOST_DIMENSIONS}`);
  }
  const dimensions = Array.from({ length: rank }, () => cursor.uint64());
  const elements = dimensions.reduce((product, size) => product * size, 1);
  if (elements < 1 || !Number.isSafeInteger(elements)) {
    throw refusal(path, `tensor ${JSON.stringify(name)} has ${dimensions.join(' × ')} numbers`);
  }
  return { name, dimensions, type: cursor.uint32(), fileOffset: cursor.uint64() };
}

function readAlignment(path: string, metadata: GgufFile['metadata']): number {
  const { kind, value } = metadata.get('general.alignment') ?? { kind: 'uint32', value: DEFAULT_ALIGNMENT };
  if (kind === 'uint32' && typeof value === 'number' && Number.isInteger(Math.log2(value))) return value;
  throw refusal(path, 'general.alignment expected a power of two');
}

/** The file is shorter than its header says. */
class CutShort extends Error {}

/** Reads a file from its beginning; every length is compared with what is left before anything is read. */
class Cursor implements Disposable {
  readonly sizeBytes: number;
  readonly #file: number;
  #window: Buffer = Buffer.alloc(0);
  /** Of the next byte, in the window. */
  #at = 0;
  #position = 0;

  /** @throws NodeJS.ErrnoException where the file cannot be opened */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.sizeBytes = fstatSync(this.#file).size;
  }

  /** Of the next byte, in the file. */
  get position(): number {
    return this.#position;
  }

  /** @throws CutShort where so many things of that size cannot follow */
  requireSpace(count: number, bytesEach: number): void {
    if (count * bytesEach > this.sizeBytes - this.#position) throw new CutShort();
  }

  /** The next bytes, valid until the next call. @throws CutShort */
  take(bytes: number): Buffer {
    this.requireSpace(bytes, 1);
    if (this.#at + bytes > this.#window.length) {
      const most = Math.max(bytes, Math.min(WINDOW_BYTES, this.sizeBytes - this.#position));
      this.#window = readBytes(this.#file, this.#position, most);
      this.#at = 0;
      // The file may have become shorter meanwhile.
      if (this.#window.length < bytes) throw new CutShort();
    }
    this.#at += bytes;
    this.#position += bytes;
    return this.#window.subarray(this.#at - bytes, this.#at);
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }

  /** Beyond 2^53 the nearest number. */
  uint64(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  text(): string {
    return this.take(this.uint64()).toString('utf8');
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Reads bytes of an open file; fewer where it ends before. */
export function readBytes(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
