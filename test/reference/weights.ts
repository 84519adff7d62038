import { readGgufTensors, type GgufTensors } from './gguf-tensors.ts';

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
  const file = readGgufTensors(path);
  const architecture = file.header.get('general.architecture') as string;
  const hyper = (key: string): number => file.header.get(`${architecture}.${key}`) as number;
  const headDimension = hyper('attention.key_length');
  const embedding = file.tensor('token_embd.weight');
  const factors = optional(file, 'rope_freqs.weight');
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
    layers: Array.from({ length: hyper('block_count') }, (_, layer) => readLayer(file, layer)),
    outputNorm: file.tensor('output_norm.weight'),
    unembedding: optional(file, 'output.weight') ?? embedding,
  };
}

function readLayer(file: GgufTensors, layer: number): LayerWeights {
  const at = (name: string): string => `blk.${layer}.${name}`;
  return {
    attentionNorm: file.tensor(at('attn_norm.weight')),
    query: file.tensor(at('attn_q.weight')),
    key: file.tensor(at('attn_k.weight')),
    value: file.tensor(at('attn_v.weight')),
    output: file.tensor(at('attn_output.weight')),
    queryBias: optional(file, at('attn_q.bias')),
    keyBias: optional(file, at('attn_k.bias')),
    valueBias: optional(file, at('attn_v.bias')),
    queryNorm: optional(file, at('attn_q_norm.weight')),
    keyNorm: optional(file, at('attn_k_norm.weight')),
    feedForwardNorm: file.tensor(at('ffn_norm.weight')),
    gate: file.tensor(at('ffn_gate.weight')),
    up: file.tensor(at('ffn_up.weight')),
    down: file.tensor(at('ffn_down.weight')),
  };
}

function optional(file: GgufTensors, name: string): Float32Array | undefined {
  return file.has(name) ? file.tensor(name) : undefined;
}
