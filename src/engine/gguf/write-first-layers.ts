import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import {
  encodeGgufHeader,
  type GgufFile,
  type GgufKind,
  type GgufTensorInfo,
  padding,
  readGgufFile,
} from './gguf-file.ts';
import { bytesOfNumbers, countNumbers } from './tensor-types.ts';

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A tensor to write, as byte ranges of another file. */
interface CopiedTensor extends Pick<GgufTensorInfo, 'name' | 'dimensions' | 'type'> {
  readonly pieces: readonly ByteRange[];
}

/** What to write when copying a model with changes. */
interface CopyChanges {
  readonly tensors: readonly CopiedTensor[];
  /** New values of integers in the metadata, by existing key. */
  readonly counts: Readonly<Record<string, number>>;
}

const LAYER = /^blk\.(\d+)\./;
/** Bytes of each GGUF integer kind that a count may have. */
const INTEGER_BYTES: Readonly<Partial<Record<GgufKind, number>>> = { uint32: 4, int32: 4, uint64: 8, int64: 8 };
const LOW_BYTES = 4;
/** Tensors that compute queries, keys and values in each layer, without the prefix `blk.N.`. */
const PROJECTIONS = ['attn_q.weight', 'attn_k.weight', 'attn_v.weight'];
/** Tensors with separate rows per KV head. */
const BY_HEAD = /^blk\.\d+\.attn_[kv]\.(?:weight|bias)$/;

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

/**
 * Why `withQueries` cannot work on a model: one tensor computes queries and keys together, or a quantised tensor cannot be split
 * between heads. Undefined if it works for any layer.
 */
export function queriesObstacle({ tensors }: Pick<GgufFile, 'tensors'>, layers: number): string | undefined {
  const known = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (let layer = 0; layer < layers; layer++) {
    const missing = PROJECTIONS.find((name) => !known.has(`blk.${layer}.${name}`));
    if (missing !== undefined)
      return `layer ${layer} has no ${missing}: it may compute queries and keys with one tensor`;
  }
  const odd = tensors.find((tensor) => BY_HEAD.test(tensor.name) && tensorBytes(tensor) === undefined);
  return odd === undefined
    ? undefined
    : `${odd.name} has numbers of type ${odd.type}, which cannot be split between heads`;
}

/**
 * In the last copied layer, the query tensors (weight, bias, norm) also take the names of the key tensors, so that its KV cache holds
 * queries. All layers then need as many KV heads as query heads, so the rows of each KV head are repeated for the query heads that share
 * it, which does not change attention.
 * @param changes a copy of the first layers; `queriesObstacle` must be undefined for the model
 */
function withQueries(
  { metadata }: Pick<GgufFile, 'metadata'>,
  { tensors, counts }: CopyChanges,
  layers: number,
): CopyChanges {
  const architecture = metadata.get('general.architecture')!.value as string;
  const countAt = (key: string): number | undefined => metadata.get(`${architecture}.${key}`)?.value as number;
  const heads = countAt('attention.head_count')!;
  const kvHeads = countAt('attention.head_count_kv') ?? heads;
  const last = `blk.${layers - 1}.`;
  const isKey = ({ name }: CopiedTensor): boolean => /^attn_k(_norm)?\./.test(afterLayer(name, last));
  const isQuery = ({ name }: CopiedTensor): boolean => /^attn_q(_norm)?\./.test(afterLayer(name, last));
  return {
    tensors: tensors.flatMap((tensor) => {
      if (isKey(tensor)) return [];
      if (isQuery(tensor)) return [tensor, { ...tensor, name: tensor.name.replace('attn_q', 'attn_k') }];
      return [BY_HEAD.test(tensor.name) ? repeated(tensor, kvHeads, heads) : tensor];
    }),
    counts: kvHeads === heads ? counts : { ...counts, [`${architecture}.attention.head_count_kv`]: heads },
  };
}

function afterLayer(name: string, layer: string): string {
  return name.startsWith(layer) ? name.slice(layer.length) : '';
}

/** A tensor with the rows of each KV head repeated for each query head that shares it, in the order of query heads. */
function repeated(tensor: CopiedTensor, kvHeads: number, heads: number): CopiedTensor {
  const { dimensions, pieces } = tensor;
  const [{ start }] = pieces as [ByteRange];
  const headBytes = tensorBytes(tensor)! / kvHeads;
  const rows = dimensions.at(-1)!;
  return {
    ...tensor,
    dimensions: [...dimensions.slice(0, -1), (rows / kvHeads) * heads],
    pieces: Array.from({ length: heads }, (_, head) => {
      const from = start + Math.floor((head * kvHeads) / heads) * headBytes;
      return { start: from, end: from + headBytes };
    }),
  };
}

/** Bytes of a tensor without padding; undefined for an unknown type. */
function tensorBytes({ type, dimensions: [row = 1, ...others] }: Pick<CopiedTensor, 'type' | 'dimensions'>) {
  const bytes = bytesOfNumbers(type, row);
  return bytes === undefined ? undefined : bytes * countNumbers(others);
}
