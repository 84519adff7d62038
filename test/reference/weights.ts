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
  const { metadata, tensors: described } = readGgufFile(path);
  const { buffer, byteOffset } = readFileSync(path);
  const tensors = new Map(
    described.map(({ name, dimensions, type, fileOffset }) => {
      if (type !== F32) throw new Error(`${path}: ${name} is no tensor of 32-bit floats`);
      const numbers = dimensions.reduce((product, dimension) => product * dimension, 1);
      const start = byteOffset + fileOffset;
      return [name, new Float32Array(buffer.slice(start, start + 4 * numbers))] as const;
    }),
  );
  const architecture = metadata.get('general.architecture')!.value as string;
  const hyper = (key: string): number => metadata.get(`${architecture}.${key}`)!.value as number;
  const headDimension = hyper('attention.key_length');
  const embedding = tensors.get('token_embd.weight')!;
  const factors = tensors.get('rope_freqs.weight');
  return {
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
    layers: Array.from({ length: hyper('block_count') }, (_, layer) => layerOf(tensors, `blk.${layer}`)),
    outputNorm: tensors.get('output_norm.weight')!,
    unembedding: tensors.get('output.weight') ?? embedding,
  };
}

function layerOf(tensors: ReadonlyMap<string, Float32Array>, layer: string): LayerWeights {
  const weight = (name: string): Float32Array => tensors.get(`${layer}.${name}.weight`)!;
  const bias = (name: string): Float32Array | undefined => tensors.get(`${layer}.${name}.bias`);
  return {
    attentionNorm: weight('attn_norm'),
    query: weight('attn_q'),
    key: weight('attn_k'),
    value: weight('attn_v'),
    output: weight('attn_output'),
    queryBias: bias('attn_q'),
    keyBias: bias('attn_k'),
    valueBias: bias('attn_v'),
    queryNorm: tensors.get(`${layer}.attn_q_norm.weight`),
    keyNorm: tensors.get(`${layer}.attn_k_norm.weight`),
    feedForwardNorm: weight('ffn_norm'),
    gate: weight('ffn_gate'),
    up: weight('ffn_up'),
    down: weight('ffn_down'),
  };
}
