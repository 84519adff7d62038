import { BenchError } from '../../base/bench-error.ts';
import { CutShort, GgufCursor } from './gguf-cursor.ts';

/** The kinds of value, by their number in the file. */
const KINDS = [
  ...['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32'],
  ...['float32', 'bool', 'text', 'list', 'uint64', 'int64', 'float64'],
] as const;
/** Bytes of a value; of a text the least. */
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8];
const MAGIC = 'GGUF';
const VERSIONS = [2, 3];
const MOST_DIMENSIONS = 4;
/** The least bytes of a key with a value, and of the description of a tensor. */
const LEAST_PAIR_BYTES = 8 + 4 + 1;
const LEAST_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8;
const DEFAULT_ALIGNMENT = 32;

export type GgufKind = (typeof KINDS)[number];
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

/** A tensor as the file describes it. */
export interface GgufTensorInfo {
  readonly name: string;
  readonly dimensions: readonly number[];
  /** As GGML numbers it. */
  readonly type: number;
  /** Of its first byte, in the file. */
  readonly fileOffset: number;
}

/** Everything of a GGUF file that stands before the numbers of its tensors. */
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
 * Reads a GGUF file up to the numbers of its tensors. No length that it states is believed before it fits into the file, so
 * that no file makes this wait or fill the memory.
 *
 * @throws BenchError `bad-model` where it is no GGUF file of version 2 or 3, or states what cannot be
 * @see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function readGgufFile(path: string): GgufFile {
  try {
    using cursor = new GgufCursor(path);
    return read(path, cursor);
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    if (cause instanceof CutShort) throw refusal(path, 'not a complete GGUF file', cause);
    const { code } = cause as NodeJS.ErrnoException;
    throw new BenchError('bad-model', `${path} cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
}

function read(path: string, cursor: GgufCursor): GgufFile {
  if (cursor.take(MAGIC.length).toString('latin1') !== MAGIC) throw refusal(path, 'not a complete GGUF file');
  const version = cursor.uint32();
  if (!VERSIONS.includes(version)) throw refusal(path, `GGUF of version ${version}, expected ${VERSIONS.join(' or ')}`);
  const [tensorCount, pairCount] = [cursor.uint64(), cursor.uint64()];
  cursor.requireSpace(pairCount, LEAST_PAIR_BYTES);
  const metadata = new Map<string, GgufPair>();
  const start = cursor.position;
  for (let index = 0; index < pairCount; index++) {
    const key = cursor.text();
    if (metadata.has(key)) throw refusal(path, `its header has ${JSON.stringify(key)} twice`);
    metadata.set(key, pairOf(path, key, cursor));
  }
  const metadataBytes = { start, end: cursor.position };
  cursor.requireSpace(tensorCount, LEAST_TENSOR_BYTES);
  const relative: GgufTensorInfo[] = [];
  for (let index = 0; index < tensorCount; index++) relative.push(tensorOf(path, cursor));
  const alignment = alignmentOf(path, metadata);
  const begin = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = relative.map((tensor) => ({ ...tensor, fileOffset: begin + tensor.fileOffset }));
  const outside = tensors.find(({ fileOffset }) => fileOffset >= cursor.sizeBytes);
  if (outside !== undefined) throw refusal(path, 'not a complete GGUF file');
  return { path, metadata, metadataBytes, alignment, tensors };
}

function pairOf(path: string, key: string, cursor: GgufCursor): GgufPair {
  const kind = kindOf(path, key, cursor.uint32());
  const fileOffset = cursor.position;
  if (kind !== 'list') return { kind, value: scalarOf(kind, cursor), fileOffset };
  const ofElements = kindOf(path, key, cursor.uint32());
  if (ofElements === 'list') throw refusal(path, `its header has lists of lists under ${JSON.stringify(key)}`);
  const count = cursor.uint64();
  cursor.requireSpace(count, SIZES[KINDS.indexOf(ofElements)]!);
  const values: GgufScalar[] = [];
  for (let index = 0; index < count; index++) values.push(scalarOf(ofElements, cursor));
  return { kind, value: { kind: ofElements, values }, fileOffset };
}

function kindOf(path: string, key: string, number: number): GgufKind {
  const kind = KINDS[number];
  if (kind === undefined) throw refusal(path, `its header has a value of unknown type under ${JSON.stringify(key)}`);
  return kind;
}

function scalarOf(kind: Exclude<GgufKind, 'list'>, cursor: GgufCursor): GgufScalar {
  if (kind === 'text') return cursor.text();
  const bytes = cursor.take(SIZES[KINDS.indexOf(kind)]!);
  switch (kind) {
    case 'uint8':
      return bytes.readUInt8();
    case 'int8':
      return bytes.readInt8();
    case 'uint16':
      return bytes.readUInt16LE();
    case 'int16':
      return bytes.readInt16LE();
    case 'uint32':
      return bytes.readUInt32LE();
    case 'int32':
      return bytes.readInt32LE();
    case 'float32':
      return bytes.readFloatLE();
    case 'bool':
      return bytes.readUInt8() !== 0;
    case 'uint64':
      return Number(bytes.readBigUInt64LE());
    case 'int64':
      return Number(bytes.readBigInt64LE());
    case 'float64':
      return bytes.readDoubleLE();
  }
}

function tensorOf(path: string, cursor: GgufCursor): GgufTensorInfo {
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

function alignmentOf(path: string, metadata: GgufFile['metadata']): number {
  const { kind, value } = metadata.get('general.alignment') ?? { kind: 'uint32', value: DEFAULT_ALIGNMENT };
  const isPower = typeof value === 'number' && Number.isInteger(Math.log2(value));
  if (kind === 'uint32' && isPower) return value;
  throw refusal(path, 'general.alignment expected a power of two');
}

/** Error for a file that cannot be a model. */
export function refusal(path: string, why: string, cause?: unknown): BenchError {
  return new BenchError(
    'bad-model',
    `${path}: ${why}`,
    'name a language model in GGUF format; if it was downloaded, download it again',
    cause,
  );
}
