import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import { encodeGgufHeader, type GgufFile, type GgufKind, padding, readGgufFile } from './gguf-file.ts';
import { type ByteRange, type CopiedTensor, type CopyChanges, withQueries } from './queries-as-keys.ts';

const LAYER = /^blk\.(\d+)\./;
/** Bytes of each GGUF integer kind that a count may have. */
const INTEGER_BYTES: Readonly<Partial<Record<GgufKind, number>>> = { uint32: 4, int32: 4, uint64: 8, int64: 8 };
const LOW_BYTES = 4;

/**
 * Writes the first layers of a model as another GGUF model: reduces the layer count, drops the tensors of later layers, and copies
 * everything else. The result has the same tokenizer and computes the same keys and values; its logits mean nothing.
 * @param layers from 1 to the number of layers of the model
 * @param queries replaces the keys of the last layer by its queries: see `withQueries`
 * @throws BenchError `disk` if it cannot be written, `bad-model` if the model cannot be read
 */
export async function writeFirstLayers(from: string, to: string, layers: number, queries = false): Promise<void> {
  const file = readGgufFile(from);
  const architecture = file.metadata.get('general.architecture')!.value as string;
  const counts = { [`${architecture}.block_count`]: layers };
  const first: CopyChanges = { tensors: firstTensors(file, layers), counts };
  try {
    await copyModel(file, to, queries ? withQueries(file, first, layers) : first);
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BenchError('disk', `${to}: a part of the model cannot be written: ${why}`, diskErrorHint(cause), cause);
  }
}

function firstTensors({ path, tensors }: GgufFile, layers: number): CopiedTensor[] {
  const inOrder = tensors.toSorted((a, b) => a.fileOffset - b.fileOffset);
  const { size } = statSync(path);
  return inOrder
    .map(({ name, dimensions, type, fileOffset: start }, index): CopiedTensor => {
      const pieces = [{ start, end: inOrder[index + 1]?.fileOffset ?? size }];
      return { name, dimensions, type, pieces };
    })
    .filter(({ name }) => Number(LAYER.exec(name)?.[1] ?? -1) < layers);
}

async function copyModel(file: GgufFile, to: string, { tensors, counts }: CopyChanges): Promise<void> {
  await using target = await open(to, 'w', 0o600);
  const metadata = { count: file.metadata.size, bytes: await changeCounts(file, counts) };
  const sized = tensors.map((tensor) => ({ ...tensor, sizeBytes: totalSize(tensor.pieces) }));
  await target.writeFile(encodeGgufHeader(metadata, sized, file.alignment));
  for (const { pieces } of tensors) {
    for (const { start, end } of pieces) {
      const numbers: AsyncIterable<Buffer> = createReadStream(file.path, { start, end: end - 1 });
      for await (const bytes of numbers) await target.writeFile(bytes);
    }
    await target.writeFile(Buffer.alloc(padding(totalSize(pieces), file.alignment)));
  }
}

/** Encoded metadata with changed counts. @throws BenchError `bad-model` if a count is not a 32- or 64-bit integer */
async function changeCounts(
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
      throw new BenchError('bad-model', `${path}: ${key} is ${kind}, not an integer`, 'name another model');
    }
    const at = fileOffset - start;
    bytes.fill(0, at, at + size);
    bytes.writeUIntLE(count, at, LOW_BYTES);
  }
  return bytes;
}

function totalSize(pieces: readonly ByteRange[]): number {
  return pieces.reduce((sum, { start, end }) => sum + end - start, 0);
}
