import type { GgufFile, GgufTensorInfo } from './gguf-file.ts';
import { bytesOfNumbers } from './tensor-types.ts';

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A tensor to write, as byte ranges of another file. */
export interface CopiedTensor extends Pick<GgufTensorInfo, 'name' | 'dimensions' | 'type'> {
  readonly pieces: readonly ByteRange[];
}

/** What to write when copying a model with changes. */
export interface CopyChanges {
  readonly tensors: readonly CopiedTensor[];
  /** New values of integers in the metadata, by existing key. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Tensors that compute queries, keys and values in each layer, without the prefix `blk.N.`. */
const PROJECTIONS = ['attn_q.weight', 'attn_k.weight', 'attn_v.weight'];
/** Tensors with separate rows per KV head. */
const BY_HEAD = /^blk\.\d+\.attn_[kv]\.(?:weight|bias)$/;

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
export function withQueries(
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
function tensorBytes({
  type,
  dimensions: [row = 1, ...others],
}: Pick<CopiedTensor, 'type' | 'dimensions'>): number | undefined {
  const bytes = bytesOfNumbers(type, row);
  return bytes === undefined ? undefined : others.reduce((product, size) => product * size, bytes);
}
