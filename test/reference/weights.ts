import { readFileSync } from 'node:fs';
import { readGgufFile } from '../../src/engine/gguf/gguf-file.ts';

const F32 = 0;

/** One layer. A matrix is a list of rows, laid end to end: one row for each output. */
export interface LayerWeights {
  readonly attentionNorm: Float32Array;
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  readonly output: Float32Array;
  /** Qwen2 alone. */
  readonly queryBias: Float32Array | undefined;
  readonly keyBias: Float32Array | undefined;
  readonly valueBias: Float32Array | undefined;
  /** Qwen3 alone: an RMS norm over each head. */
  readonly queryNorm: Float32Array | undefined;
  readonly keyNorm: Float32Array | undefined;
  readonly feedForwardNorm: Float32Array;
  readonly gate: Float32Array;
  readonly up: Float32Array;
  readonly down: Float32Array;
}

/** A decoder of the Llama family, weights and hyperparameters. */
export interface Weights {
  readonly vocabularySize: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDimension: number;
  readonly normEpsilon: number;
  /** Radians by which each pair of dimensions rotates in one step of position. */
  readonly pairSpeeds: readonly number[];
  /** True where a pair is two neighbours (Llama) or one number of each half of the head (Qwen). */
  readonly neighbourPairs: boolean;
  readonly embedding: Float32Array;
  readonly layers: readonly LayerWeights[];
  readonly outputNorm: Float32Array;
  /** The rows of the vocabulary: those of the embedding where the file has no others. */
  readonly unembedding: Float32Array;
}

/** Reads a GGUF file of architecture llama, qwen2 or qwen3 whose weights are 32-bit floats. */
export function readWeights(path: string): Weights {
  const { metadata } = readGgufFile(path);
  const architecture = metadata.get('general.architecture')!.value as string;
  const hyper = (key: string): number => metadata.get(`${architecture}.${key}`)!.value as number;
  const headDimension = hyper('attention.key_length');
  const tensors = readTensors(path);
  const embedding = required(tensors, 'token_embd.weight');
  const factors = tensors.get('rope_freqs.weight');
  return {
    vocabularySize: embedding.length / hyper('embedding_length'),
    heads: hyper('attention.head_count'),
    kvHeads: hyper('attention.head_count_kv'),
    headDimension,
    normEpsilon: hyper('attention.layer_norm_rms_epsilon'),
    pairSpeeds: Array.from(
      { length: headDimension / 2 },
      (_, pair) => hyper('rope.freq_base') ** ((-2 * pair) / headDimension) / (factors?.[pair] ?? 1),
    ),
    neighbourPairs: architecture === 'llama',
    embedding,
    layers: Array.from({ length: hyper('block_count') }, (_, layer) => readLayer(tensors, layer)),
    outputNorm: required(tensors, 'output_norm.weight'),
    unembedding: tensors.get('output.weight') ?? embedding,
  };
}

type Tensors = ReadonlyMap<string, Float32Array>;

/** All tensors of 32-bit floats; a matrix has one row of inputs for each output. */
function readTensors(path: string): Tensors {
  const bytes = readFileSync(path);
  const floats = readGgufFile(path).tensors.filter(({ type }) => type === F32);
  return new Map(
    floats.map(({ name, dimensions, fileOffset }) => {
      const start = bytes.byteOffset + fileOffset;
      const size = dimensions.reduce((product, dimension) => product * dimension, 1);
      return [name, new Float32Array(bytes.buffer.slice(start, start + 4 * size))] as const;
    }),
  );
}

function readLayer(tensors: Tensors, layer: number): LayerWeights {
  const optional = (name: string): Float32Array | undefined => tensors.get(`blk.${layer}.${name}`);
  const own = (name: string): Float32Array => required(tensors, `blk.${layer}.${name}`);
  return {
    attentionNorm: own('attn_norm.weight'),
    query: own('attn_q.weight'),
    key: own('attn_k.weight'),
    value: own('attn_v.weight'),
    output: own('attn_output.weight'),
    queryBias: optional('attn_q.bias'),
    keyBias: optional('attn_k.bias'),
    valueBias: optional('attn_v.bias'),
    queryNorm: optional('attn_q_norm.weight'),
    keyNorm: optional('attn_k_norm.weight'),
    feedForwardNorm: own('ffn_norm.weight'),
    gate: own('ffn_gate.weight'),
    up: own('ffn_up.weight'),
    down: own('ffn_down.weight'),
  };
}

/** @throws Error for a tensor that is missing or has another type than F32 */
function required(tensors: Tensors, name: string): Float32Array {
  const found = tensors.get(name);
  if (found === undefined) throw new Error(`no tensor ${name} of 32-bit floats`);
  return found;
}
