import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { encodeFloat16 } from '../../../base/float16.ts';
import type { GgufTensor, GgufTensorType } from './write-gguf.ts';
import type { LlamaThreeScaling, ModelShape } from './model-shapes.ts';

/** Bit layout of each float type in a 32-bit word; a word has two F16 numbers (`copies` repeats an exponent). */
const FLOAT = {
  F32: { signs: 0x80000000, fractions: 0x007fffff, exponentShift: 23, bias: 127, copies: 1 },
  F16: { signs: 0x80008000, fractions: 0x03ff03ff, exponentShift: 10, bias: 15, copies: 0x10001 },
} as const;

type QuantisedType = Exclude<GgufTensorType, keyof typeof FLOAT>;

/**
 * Blocks of quantised types. `scales`: byte offset of each 16-bit scale, and its multiple of the first scale that makes numbers spread
 * around 0. `rms`: root mean square of a block's numbers ÷ first scale, if all other bytes are random.
 * @see ggml-common.h of llama.cpp
 */
const BLOCKS: Readonly<
  Record<QuantisedType, { bytes: number; scales: Readonly<Record<number, number>>; rms: number }>
> = {
  Q4_0: { bytes: 18, scales: { 0: 1 }, rms: 4.6 },
  Q4_1: { bytes: 20, scales: { 0: 1, 2: -7.5 }, rms: 4.6 },
  Q5_0: { bytes: 22, scales: { 0: 1 }, rms: 9.2 },
  Q8_0: { bytes: 34, scales: { 0: 1 }, rms: 74 },
  Q4_K: { bytes: 144, scales: { 0: 1, 2: 7.5 }, rms: 255 },
  Q5_K: { bytes: 176, scales: { 0: 1, 2: 15.5 }, rms: 521 },
  Q6_K: { bytes: 210, scales: { 208: 1 }, rms: 1365 },
};

/** Root mean square of the uniform distribution over ±[1, 2). */
const BASE_RMS = Math.sqrt(7 / 3);

/** Makes queries and keys large and so attention sharp, so that a wrong position changes results. */
const QK_GAIN = 2;
/** Spreads logits so that next tokens are neither certain nor equally likely. */
const LOGIT_GAIN = 3;
/** Makes up for attention averaging values, so that memories change results. */
const OUTPUT_GAIN = 2;

/** Architectures that normalise each head's query and key. */
const NORMS_OF_QUERIES = ['qwen3', 'qwen3moe', 'gemma3', 'lfm2'];

/**
 * The tensors of a random model, with llama.cpp's names and order. Matrices have a root mean square near 1/√(inputs), which keeps
 * activations near 1. Tensors must be filled in order, since they share one random generator.
 */
export function modelTensors(shape: ModelShape, random: RandomGenerator): GgufTensor[] {
  const { embeddingDimension: width, feedForwardDimension: inner, headDimension, weights } = shape;
  const queries = shape.heads * headDimension;
  const keys = shape.kvHeads * headDimension;
  const matrix = (name: string, inputs: number, outputs: number, gain = 1): GgufTensor => ({
    name: `${name}.weight`,
    dimensions: [inputs, outputs],
    type: weights,
    fill: isFloat(weights)
      ? signed(random, weights, gain / Math.sqrt(inputs))
      : quantised(random, BLOCKS[weights], gain / Math.sqrt(inputs)),
  });
  const bias = (name: string, size: number): GgufTensor => vector(`${name}.bias`, size, signed(random, 'F32', 0.5));
  const norm = (name: string, size = width, least = 0.5): GgufTensor =>
    vector(`${name}.weight`, size, positive(random, least));
  const experts = (name: string, inputs: number, outputs: number, count: number): GgufTensor => {
    const one = matrix(name, inputs, outputs);
    return { ...one, dimensions: [...one.dimensions, count] };
  };
  const feedForward = (at: (name: string) => string): GgufTensor[] => {
    if (shape.experts === undefined)
      return [
        matrix(at('ffn_gate'), width, inner),
        matrix(at('ffn_up'), width, inner),
        matrix(at('ffn_down'), inner, width),
      ];
    const { count } = shape.experts;
    return [
      matrix(at('ffn_gate_inp'), width, count),
      experts(at('ffn_gate_exps'), width, inner, count),
      experts(at('ffn_up_exps'), width, inner, count),
      experts(at('ffn_down_exps'), inner, width, count),
    ];
  };
  const attention = (at: (name: string) => string): GgufTensor[] => [
    matrix(at('attn_q'), width, queries, QK_GAIN),
    matrix(at('attn_k'), width, keys, QK_GAIN),
    matrix(at('attn_v'), width, keys),
    ...(shape.architecture === 'qwen2'
      ? [bias(at('attn_q'), queries), bias(at('attn_k'), keys), bias(at('attn_v'), keys)]
      : []),
    ...(NORMS_OF_QUERIES.includes(shape.architecture)
      ? [norm(at('attn_q_norm'), headDimension, QK_GAIN / 2), norm(at('attn_k_norm'), headDimension, QK_GAIN / 2)]
      : []),
    matrix(at('attn_output'), queries, width, OUTPUT_GAIN),
  ];
  const convolution = (at: (name: string) => string, tokens: number): GgufTensor[] => [
    matrix(at('shortconv.in_proj'), width, 3 * width),
    { ...matrix(at('shortconv.conv'), tokens, width), type: 'F32', fill: signed(random, 'F32', 1 / Math.sqrt(tokens)) },
    matrix(at('shortconv.out_proj'), width, width, OUTPUT_GAIN),
  ];
  const layer = (index: number): GgufTensor[] => {
    const at = (name: string): string => `blk.${index}.${name}`;
    const { hybrid, architecture } = shape;
    const isConvolution = hybrid?.attentionLayers.includes(index) === false;
    const behind = (name: string): GgufTensor[] => (architecture === 'gemma3' ? [norm(at(name))] : []);
    return [
      norm(at('attn_norm')),
      ...(isConvolution ? convolution(at, hybrid.convolutionTokens) : attention(at)),
      ...behind('post_attention_norm'),
      norm(at('ffn_norm')),
      ...feedForward(at),
      ...behind('post_ffw_norm'),
    ];
  };
  return [
    matrix('token_embd', width, shape.vocabularyTokens, LOGIT_GAIN),
    ...(shape.ropeScaling === undefined ? [] : [frequencyFactors(shape, shape.ropeScaling)]),
    ...Array.from({ length: shape.layers }, (_, index) => layer(index)).flat(),
    norm(shape.architecture === 'lfm2' ? 'token_embd_norm' : 'output_norm'),
    ...(shape.tiedOutput ? [] : [matrix('output', width, shape.vocabularyTokens, LOGIT_GAIN)]),
  ];
}

function vector(name: string, size: number, fill: GgufTensor['fill']): GgufTensor {
  return { name, dimensions: [size], type: 'F32', fill };
}

/** Numbers with random sign and fraction and a fixed exponent, which needs no rounding. Their RMS is within a factor of √2. */
function signed(random: RandomGenerator, type: keyof typeof FLOAT, rms: number): GgufTensor['fill'] {
  const { signs, fractions, exponentShift, bias, copies } = FLOAT[type];
  const exponent = bias + Math.round(Math.log2(rms / BASE_RMS));
  return fillWords(random, signs | fractions, (exponent << exponentShift) * copies);
}

/** Random bytes, with block scales that give the root mean square. */
function quantised(
  random: RandomGenerator,
  { bytes, scales, rms: unit }: (typeof BLOCKS)[QuantisedType],
  rms: number,
): GgufTensor['fill'] {
  const halves = Object.entries(scales).map(
    ([offset, multiple]) => [Number(offset), encodeFloat16((multiple * rms) / unit)] as const,
  );
  const fillRandom = fillWords(random, 0xffffffff, 0);
  return (words) => {
    fillRandom(words);
    const view = new DataView(words.buffer, words.byteOffset, words.byteLength);
    for (let block = 0; block < words.byteLength; block += bytes) {
      for (const [offset, half] of halves) view.setUint16(block + offset, half, true);
    }
  };
}

function isFloat(type: GgufTensorType): type is keyof typeof FLOAT {
  return type in FLOAT;
}

/** F32 numbers from `least`, a power of two, to twice that. */
function positive(random: RandomGenerator, least: number): GgufTensor['fill'] {
  const { fractions, exponentShift, bias } = FLOAT.F32;
  return fillWords(random, fractions, (bias + Math.log2(least)) << exponentShift);
}

function fillWords(random: RandomGenerator, mask: number, fixed: number): GgufTensor['fill'] {
  return (words) => {
    for (let index = 0; index < words.length; index++) words[index] = (random.next() & mask) | fixed;
  };
}

/**
 * RoPE frequency factors of Llama 3: 1 for short wavelengths, `factor` for those longer than the original context, and in between
 * interpolated linearly in the frequency.
 *
 * @see convert_hf_to_gguf.py of llama.cpp, which computes the same tensor
 */
function frequencyFactors(shape: ModelShape, scaling: LlamaThreeScaling): GgufTensor {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalContextTokens } = scaling;
  const pairs = shape.headDimension / 2;
  const factors = Float32Array.from({ length: pairs }, (_, pair) => {
    const wavelength = 2 * Math.PI * shape.ropeBase ** (pair / pairs);
    if (wavelength < originalContextTokens / high) return 1;
    if (wavelength > originalContextTokens / low) return factor;
    const smooth = (originalContextTokens / wavelength - low) / (high - low);
    return 1 / ((1 - smooth) / factor + smooth);
  });
  return vector('rope_freqs.weight', pairs, (words) => words.set(new Uint32Array(factors.buffer)));
}
