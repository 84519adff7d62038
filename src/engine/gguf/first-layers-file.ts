import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { BenchError } from '../../config/bench-error.ts';
import { lengthAndText, u32, u64 } from './gguf-bytes.ts';
import { type GgufFile, type GgufKind, type GgufTensorInfo, readGgufFile } from './gguf-file.ts';

const VERSION = 3;
/** Of the kinds in which a file may count its layers. */
const INTEGER_BYTES: Readonly<Partial<Record<GgufKind, number>>> = { uint32: 4, int32: 4, uint64: 8, int64: 8 };
/** What is written of a number of layers. */
const LOW_BYTES = 4;
const LAYER = /^blk\.(\d+)\./;

/** A tensor and the byte behind its last, padding included. */
interface KeptTensor extends GgufTensorInfo {
  readonly end: number;
}

/**
 * Writes a model of another model's first layers: its number of layers is another one, the tensors of the later layers are
 * left out, and every other byte of metadata and tensors is copied, so that it has the same tokens and computes the same
 * keys and values there. What it says behind them means nothing.
 * @param layers from 1 to those of the model
 * @throws BenchError `disk` where it cannot be written, `bad-model` where the model cannot be read
 */
export async function writeFirstLayers(from: string, to: string, layers: number): Promise<void> {
  const file = readGgufFile(from);
  const tensors = keptTensors(file, layers);
  try {
    await using target = await open(to, 'w', 0o600);
    await target.writeFile(await headOf(file, tensors, layers));
    for (const { fileOffset, end } of tensors) {
      const numbers: AsyncIterable<Buffer> = createReadStream(from, { start: fileOffset, end: end - 1 });
      for await (const bytes of numbers) await target.writeFile(bytes);
    }
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BenchError('disk', `${to}: the model's first layers cannot be written: ${why}`, 'free some space', cause);
  }
}

/** In the order of the file. */
function keptTensors({ path, tensors }: GgufFile, layers: number): KeptTensor[] {
  const inOrder = tensors.toSorted((a, b) => a.fileOffset - b.fileOffset);
  const { size } = statSync(path);
  return inOrder
    .map((tensor, index) => ({ ...tensor, end: inOrder[index + 1]?.fileOffset ?? size }))
    .filter(({ name }) => Number(LAYER.exec(name)?.[1] ?? -1) < layers);
}

async function headOf(file: GgufFile, tensors: readonly KeptTensor[], layers: number): Promise<Buffer> {
  const parts = [Buffer.from('GGUF'), u32(VERSION), u64(tensors.length), u64(file.metadata.size)];
  parts.push(await metadataOf(file, layers));
  let offset = 0;
  for (const { name, dimensions, type, fileOffset, end } of tensors) {
    parts.push(lengthAndText(name), u32(dimensions.length), ...dimensions.map(u64), u32(type), u64(offset));
    offset += end - fileOffset;
  }
  const head = Buffer.concat(parts);
  const { alignment } = file;
  return Buffer.concat([head, Buffer.alloc((alignment - (head.length % alignment)) % alignment)]);
}

/** The metadata as they stand, but for the number of layers. */
async function metadataOf({ path, metadata, metadataBytes }: GgufFile, layers: number): Promise<Buffer> {
  const { start, end } = metadataBytes;
  const bytes = Buffer.alloc(end - start);
  await using source = await open(path, 'r');
  await source.read(bytes, 0, bytes.length, start);
  const architecture = metadata.get('general.architecture')!.value as string;
  const { kind, fileOffset } = metadata.get(`${architecture}.block_count`)!;
  const size = INTEGER_BYTES[kind];
  if (size === undefined)
    throw new BenchError('bad-model', `${path}: its number of layers is of the kind ${kind}`, 'name another model');
  const at = fileOffset - start;
  bytes.fill(0, at, at + size);
  bytes.writeUIntLE(layers, at, LOW_BYTES);
  return bytes;
}
