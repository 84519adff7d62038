import type { GgufFile, GgufTensorInfo } from './gguf-file.ts';
import { bytesOfNumbers } from './tensor-types.ts';

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A tensor whose bytes are copied from another file. */
export interface CopiedTensor extends Pick<GgufTensorInfo, 'name' | 'dimensions' | 'type'> {
  readonly pieces: readonly ByteRange[];
}

/** Differences of a file from the one that it is copied from. */
export interface CopyChanges {
  readonly tensors: readonly CopiedTensor[];
  /** Counts of its header, by a key that the header has. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Tensors by which each layer makes queries, keys and values, without `blk.N.` in front. */
const PROJECTIONS = ['attn_q.weight', 'attn_k.weight', 'attn_v.weight'];
/** Tensors with rows for each KV head. */
const BY_HEAD = /^blk\.\d+\.attn_[kv]\.(?:weight|bias)$/;

/**
 * Why no layer of a model can have its queries in the place of its keys: one tensor makes queries and keys, or the numbers of
 * heads cannot be told apart. Undefined where any layer can.
 */
export function queriesObstacle({ tensors }: Pick<GgufFile, 'tensors'>, layers: number): string | undefined {
  const known = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (let layer = 0; layer < layers; layer++) {
    const missing = PROJECTIONS.find((name) => !known.has(`blk.${layer}.${name}`));
    if (missing !== undefined) return `layer ${layer} has no ${missing}: it may make queries and keys by one tensor`;
  }
  const odd = tensors.find((tensor) => BY_HEAD.test(tensor.name) && sizeOf(tensor) === undefined);
  return odd === undefined
    ? undefined
    : `${odd.name} has numbers of type ${odd.type}, whose heads cannot be told apart`;
}

/**
 * Puts the queries of the last of a model's first layers in the place of its keys. Layers then have as many KV heads as query
 * heads: the rows of each KV head are repeated for the query heads that share it, which keeps their attention the same. In
 * the last layer the tensors that make queries make keys too: weight, bias, norm of each head.
 * @param changes those of the first layers; the model has no `queriesObstacle`
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

/** A tensor with the rows of each KV head as often as query heads share it, so that these stand in their order. */
function repeated(tensor: CopiedTensor, kvHeads: number, heads: number): CopiedTensor {
  const { dimensions, pieces } = tensor;
  const [{ start }] = pieces as [ByteRange];
  const headBytes = sizeOf(tensor)! / kvHeads;
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

/** Bytes of a tensor's numbers, without what pads it. */
function sizeOf({
  type,
  dimensions: [row = 1, ...others],
}: Pick<CopiedTensor, 'type' | 'dimensions'>): number | undefined {
  const bytes = bytesOfNumbers(type, row);
  return bytes === undefined ? undefined : others.reduce((product, size) => product * size, bytes);
}
