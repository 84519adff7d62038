import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import { countNumbers } from './tensor-types.ts';

/** Kinds of values, in the order of their numbers in the format; `bytes` is their minimum size. */
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
const MAX_DIMENSIONS = 4;
/** Minimum bytes of a key with its value, and of a tensor's description. */
const MIN_PAIR_BYTES = 8 + 4 + 1;
const MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8;
const DEFAULT_ALIGNMENT = 32;
const WINDOW_BYTES = 2 ** 20;

export type GgufKind = (typeof KINDS)[number]['kind'];
export type GgufScalar = number | string | boolean;

export interface GgufList {
  readonly kind: GgufKind;
  readonly values: readonly GgufScalar[];
}

export interface GgufPair {
  readonly kind: GgufKind;
  readonly value: GgufScalar | GgufList;
  readonly fileOffset: number;
}

export interface GgufTensorInfo {
  readonly name: string;
  readonly dimensions: readonly number[];
  readonly type: number;
  readonly fileOffset: number;
}

/** Contents of a GGUF file before its tensor data. */
export interface GgufFile {
  readonly path: string;
  readonly metadata: ReadonlyMap<string, GgufPair>;
  /** Byte range of the metadata in the file, end exclusive. */
  readonly metadataBytes: { readonly start: number; readonly end: number };
  /** Tensors start at multiples of this number of bytes. */
  readonly alignment: number;
  readonly tensors: readonly GgufTensorInfo[];
}

/**
 * Reads a GGUF file up to its tensor data. Compares every length with the size of the file first, so that no malformed file can
 * fill the memory.
 *
 * @throws BenchError `bad-model` if it is not a GGUF file of version 2 or 3, or is malformed
 * @see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function readGgufFile(path: string): GgufFile {
  try {
    using reader = new GgufReader(path);
    return reader.read();
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    if (cause instanceof CutShort) throw refusal(path, 'not a complete GGUF file', cause);
    const { code } = cause as NodeJS.ErrnoException;
    throw new BenchError('bad-model', `${path} cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
}

/** Name ending of a part of a split model, `NAME-00001-of-00003.gguf`; llama.cpp finds the other parts by name. */
const PART = /-(\d{5})-of-(?!00000)(\d{5})\.gguf$/;

/** All files of a model, given the first. @throws BenchError `bad-model` if given another part */
export function modelParts(path: string): readonly string[] {
  const [ending, number, count] = PART.exec(path) ?? [];
  if (ending === undefined) return [path];
  const part = (index: number): string =>
    `${path.slice(0, -ending.length)}-${String(index).padStart(5, '0')}-of-${count}.gguf`;
  if (Number(number) === 1) return Array.from({ length: Number(count) }, (_, index) => part(index + 1));
  throw new BenchError(
    'bad-model',
    `${path}: part ${Number(number)} of ${Number(count)} of a model`,
    `name the first part: ${part(1)}`,
  );
}

export function refusal(path: string, why: string, cause?: unknown): BenchError {
  const hint = 'name a language model in GGUF format; if it was downloaded, download it again';
  return new BenchError('bad-model', `${path}: ${why}`, hint, cause);
}

export function u32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

/** 64 bits, little-endian; negative numbers as two's complement. */
export function u64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt.asUintN(64, BigInt(value))).buffer);
}

/** Encodes a text: length in bytes, then UTF-8. */
export function lengthAndText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

/** Description of a tensor to write. */
interface WrittenTensor extends Pick<GgufTensorInfo, 'name' | 'dimensions' | 'type'> {
  readonly sizeBytes: number;
}

/** Number of bytes that pad a part to the alignment. */
export function padding(bytes: number, alignment = DEFAULT_ALIGNMENT): number {
  return (alignment - (bytes % alignment)) % alignment;
}

/** Encodes everything before the tensor data of a GGUF file of version 3, including the padding after it. */
export function encodeGgufHeader(
  metadata: { readonly count: number; readonly bytes: Buffer },
  tensors: readonly WrittenTensor[],
  alignment = DEFAULT_ALIGNMENT,
): Buffer {
  const parts = [Buffer.from(MAGIC), u32(3), u64(tensors.length), u64(metadata.count), metadata.bytes];
  let offset = 0;
  for (const { name, dimensions, type, sizeBytes } of tensors) {
    parts.push(lengthAndText(name), u32(dimensions.length), ...dimensions.map(u64), u32(type), u64(offset));
    offset += sizeBytes + padding(sizeBytes, alignment);
  }
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc(padding(header.length, alignment))]);
}

class CutShort extends Error {}

/** Reads a file in order; checks that enough bytes are left before each read. */
class GgufReader implements Disposable {
  readonly #path: string;
  readonly #file: number;
  readonly #sizeBytes: number;
  #window: Buffer = Buffer.alloc(0);
  /** Offset of the next byte in the window, and in the file. */
  #at = 0;
  #position = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'r');
    this.#sizeBytes = fstatSync(this.#file).size;
  }

  read(): GgufFile {
    if (this.#take(MAGIC.length).toString('latin1') !== MAGIC) throw new CutShort();
    const version = this.#uint32();
    if (!VERSIONS.includes(version)) this.#refuse(`GGUF of version ${version}, expected ${VERSIONS.join(' or ')}`);
    const [tensorCount, pairCount] = [this.#uint64(), this.#uint64()];
    this.#requireSpace(pairCount, MIN_PAIR_BYTES);
    const metadata = new Map<string, GgufPair>();
    const start = this.#position;
    for (let index = 0; index < pairCount; index++) {
      const key = this.#text();
      if (metadata.has(key)) this.#refuse(`its header has ${JSON.stringify(key)} twice`);
      metadata.set(key, this.#pair(key));
    }
    const metadataBytes = { start, end: this.#position };
    this.#requireSpace(tensorCount, MIN_TENSOR_BYTES);
    const relative = Array.from({ length: tensorCount }, () => this.#tensor());
    const alignment = this.#alignment(metadata);
    const begin = this.#position + padding(this.#position, alignment);
    const tensors = relative.map((tensor) => ({ ...tensor, fileOffset: begin + tensor.fileOffset }));
    if (tensors.some(({ fileOffset }) => fileOffset >= this.#sizeBytes)) throw new CutShort();
    return { path: this.#path, metadata, metadataBytes, alignment, tensors };
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #pair(key: string): GgufPair {
    const kind = this.#kind(key);
    const fileOffset = this.#position;
    if (kind.kind !== 'list') return { kind: kind.kind, value: this.#scalar(kind), fileOffset };
    const element = this.#kind(key);
    if (element.kind === 'list') this.#refuse(`its header has lists of lists under ${JSON.stringify(key)}`);
    const count = this.#uint64();
    this.#requireSpace(count, element.bytes);
    const values = Array.from({ length: count }, () => this.#scalar(element));
    return { kind: 'list', value: { kind: element.kind, values }, fileOffset };
  }

  #kind(key: string): (typeof KINDS)[number] {
    const name = JSON.stringify(key);
    return KINDS[this.#uint32()] ?? this.#refuse(`its header has a value of unknown type under ${name}`);
  }

  #scalar({ bytes, read }: (typeof KINDS)[number]): GgufScalar {
    return read === null ? this.#text() : read(this.#take(bytes));
  }

  #tensor(): GgufTensorInfo {
    const name = this.#text();
    const refuse = (why: string): never => this.#refuse(`tensor ${JSON.stringify(name)} has ${why}`);
    const rank = this.#uint32();
    if (rank < 1 || rank > MAX_DIMENSIONS) refuse(`${rank} dimensions, expected 1 to ${MAX_DIMENSIONS}`);
    const dimensions = Array.from({ length: rank }, () => this.#uint64());
    const elements = countNumbers(dimensions);
    if (elements < 1 || !Number.isSafeInteger(elements)) refuse(`${dimensions.join(' × ')} numbers`);
    return { name, dimensions, type: this.#uint32(), fileOffset: this.#uint64() };
  }

  #alignment(metadata: GgufFile['metadata']): number {
    const { kind, value } = metadata.get('general.alignment') ?? { kind: 'uint32', value: DEFAULT_ALIGNMENT };
    if (kind === 'uint32' && typeof value === 'number' && Number.isInteger(Math.log2(value))) return value;
    return this.#refuse('general.alignment expected a power of two');
  }

  #refuse(why: string): never {
    throw refusal(this.#path, why);
  }

  #requireSpace(count: number, bytesEach: number): void {
    if (count * bytesEach > this.#sizeBytes - this.#position) throw new CutShort();
  }

  /** The next bytes, valid until the next call. @throws CutShort */
  #take(bytes: number): Buffer {
    this.#requireSpace(bytes, 1);
    if (this.#at + bytes > this.#window.length) {
      const most = Math.max(bytes, Math.min(WINDOW_BYTES, this.#sizeBytes - this.#position));
      this.#window = readBytes(this.#file, this.#position, most);
      this.#at = 0;
      // The file may have been truncated since it was opened.
      if (this.#window.length < bytes) throw new CutShort();
    }
    this.#at += bytes;
    this.#position += bytes;
    return this.#window.subarray(this.#at - bytes, this.#at);
  }

  #uint32(): number {
    return this.#take(4).readUInt32LE();
  }

  #uint64(): number {
    return Number(this.#take(8).readBigUInt64LE());
  }

  #text(): string {
    return this.#take(this.#uint64()).toString('utf8');
  }
}

/** Reads bytes of a file; fewer if it ends before. */
export function readFileBytes(path: string, position: number, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    return readBytes(file, position, length);
  } finally {
    closeSync(file);
  }
}

function readBytes(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
