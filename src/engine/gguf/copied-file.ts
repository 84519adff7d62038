import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { BenchError } from '../../base/bench-error.ts';
import { lengthAndText, u32, u64 } from './gguf-bytes.ts';
import type { GgufFile, GgufKind, GgufTensorInfo } from './gguf-file.ts';

const VERSION = 3;
/** Of the kinds in which a file may count. */
const INTEGER_BYTES: Readonly<Partial<Record<GgufKind, number>>> = { uint32: 4, int32: 4, uint64: 8, int64: 8 };
/** The bytes of a count that are written. */
const LOW_BYTES = 4;

/** A stretch of a file, first byte and behind the last. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A tensor whose bytes stand in another file. */
export interface CopiedTensor extends Pick<GgufTensorInfo, 'name' | 'dimensions' | 'type'> {
  /** Of that file, one behind the other. */
  readonly pieces: readonly ByteRange[];
}

/** Differences of a file from the one that it is copied from. */
export interface CopyChanges {
  /** All of its tensors. */
  readonly tensors: readonly CopiedTensor[];
  /** Counts of its header, by key; keys that the header has. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Writes a model of the tensors of another: every other byte of its metadata is copied.
 * @throws BenchError `disk` where it cannot be written, `bad-model` where a count is of a kind that counts nothing
 */
export async function copyModel(file: GgufFile, to: string, { tensors, counts }: CopyChanges): Promise<void> {
  try {
    await using target = await open(to, 'w', 0o600);
    await target.writeFile(headOf(file, tensors, await metadataOf(file, counts)));
    for (const { pieces } of tensors) {
      for (const { start, end } of pieces) {
        const numbers: AsyncIterable<Buffer> = createReadStream(file.path, { start, end: end - 1 });
        for await (const bytes of numbers) await target.writeFile(bytes);
      }
      await target.writeFile(Buffer.alloc(paddingOf(sizeOf(pieces), file)));
    }
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BenchError('disk', `${to}: a part of the model cannot be written: ${why}`, 'free some space', cause);
  }
}

function headOf(file: GgufFile, tensors: readonly CopiedTensor[], metadata: Buffer): Buffer {
  const parts = [Buffer.from('GGUF'), u32(VERSION), u64(tensors.length), u64(file.metadata.size), metadata];
  let offset = 0;
  for (const { name, dimensions, type, pieces } of tensors) {
    parts.push(lengthAndText(name), u32(dimensions.length), ...dimensions.map(u64), u32(type), u64(offset));
    const size = sizeOf(pieces);
    offset += size + paddingOf(size, file);
  }
  const head = Buffer.concat(parts);
  return Buffer.concat([head, Buffer.alloc(paddingOf(head.length, file))]);
}

/** The metadata as they stand, but for the counts. */
async function metadataOf(
  { path, metadata, metadataBytes: { start, end } }: GgufFile,
  counts: CopyChanges['counts'],
): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  await using source = await open(path, 'r');
  await source.read(bytes, 0, bytes.length, start);
  for (const [key, count] of Object.entries(counts)) {
    const { kind, fileOffset } = metadata.get(key)!;
    const size = INTEGER_BYTES[kind];
    if (size === undefined) {
      throw new BenchError('bad-model', `${path}: ${key} is of the kind ${kind}`, 'name another model');
    }
    const at = fileOffset - start;
    bytes.fill(0, at, at + size);
    bytes.writeUIntLE(count, at, LOW_BYTES);
  }
  return bytes;
}

function sizeOf(pieces: readonly ByteRange[]): number {
  return pieces.reduce((sum, { start, end }) => sum + end - start, 0);
}

function paddingOf(bytes: number, { alignment }: Pick<GgufFile, 'alignment'>): number {
  return (alignment - (bytes % alignment)) % alignment;
}
