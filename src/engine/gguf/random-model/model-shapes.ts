import type { GgufTensorType } from './write-gguf.ts';

/** RoPE scaling of Llama 3: wavelengths above the original context are stretched by `factor`. */
export interface LlamaThreeScaling {
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalContextTokens: number;
}

export interface ModelShape {
  readonly architecture: 'llama' | 'qwen2' | 'qwen3' | 'qwen3moe' | 'gemma3' | 'lfm2';
  readonly layers: number;
  /** Layers of the model whose KV geometry this is, if that has more. */
  readonly fullLayers?: number;
  readonly embeddingDimension: number;
  readonly feedForwardDimension: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDimension: number;
  readonly vocabularyTokens: number;
  readonly contextTokens: number;
  readonly ropeBase: number;
  readonly ropeScaling?: LlamaThreeScaling;
  /** Chat template; ChatML's markers become control tokens of the vocabulary. */
  readonly chatTemplate?: string;
  readonly normEpsilon: number;
  readonly tiedOutput: boolean;
  /** Mixture of experts (qwen3moe): experts per layer, and how many of them a token uses. */
  readonly experts?: { readonly count: number; readonly used: number };
  /** Window of the layers with sliding-window attention (gemma3): five of six layers. */
  readonly slidingWindowTokens?: number;
  /** Layers with attention (lfm2); the others are short convolutions over this number of tokens, with a recurrent state. */
  readonly hybrid?: { readonly attentionLayers: readonly number[]; readonly convolutionTokens: number };
  /** Number type of matrices; vectors are always F32. */
  readonly weights: GgufTensorType;
}

const tiny = {
  layers: 3,
  embeddingDimension: 64,
  feedForwardDimension: 160,
  heads: 4,
  kvHeads: 2,
  headDimension: 16,
  vocabularyTokens: 2560,
  contextTokens: 4096,
  weights: 'F32',
} as const;
const real = { headDimension: 64, weights: 'F16' } as const;
const tinyLlama = { ...tiny, architecture: 'llama', ropeBase: 10_000, normEpsilon: 1e-5 } as const;
const tinyQwen = { ...tiny, architecture: 'qwen2', ropeBase: 1_000_000, normEpsilon: 1e-6, tiedOutput: true } as const;
// The sixth layer is the first with full attention.
const tinyGemma = { ...tinyQwen, architecture: 'gemma3', layers: 7, headDimension: 32 } as const;

/** Llama 3.2 1B with the shipped vocabulary. */
const llama1b = {
  ...real,
  architecture: 'llama',
  embeddingDimension: 2048,
  feedForwardDimension: 8192,
  heads: 32,
  kvHeads: 8,
  vocabularyTokens: tiny.vocabularyTokens,
  contextTokens: 131_072,
  ropeBase: 500_000,
  ropeScaling: { factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContextTokens: 8192 },
  normEpsilon: 1e-5,
  tiedOutput: true,
} as const;

/** ChatML, as in Qwen's models. */
const chatTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** Shapes of random models: tiny ones with each kind of layer, for tests, and those of real models, for timing. */
export const modelShapes = {
  'tiny-llama': { ...tinyLlama, tiedOutput: false },
  'tiny-llama-rope-freqs': {
    ...tinyLlama,
    // A context short enough that the factors change most of the few wavelengths.
    ropeScaling: { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContextTokens: 512 },
    tiedOutput: true,
  },
  'tiny-qwen2': tinyQwen,
  'tiny-qwen2-chat': { ...tinyQwen, chatTemplate },
  // As in Qwen3's models, heads × head dimension exceeds the embedding dimension.
  'tiny-qwen3': { ...tinyQwen, architecture: 'qwen3', headDimension: 32, tiedOutput: false },
  'tiny-qwen3moe': { ...tinyQwen, architecture: 'qwen3moe', headDimension: 32, experts: { count: 8, used: 2 } },
  'tiny-gemma3': { ...tinyGemma, slidingWindowTokens: 512 },
  // A window shorter than any prompt.
  'tiny-gemma3-window-32': { ...tinyGemma, slidingWindowTokens: 32 },
  'tiny-lfm2': {
    ...tinyQwen,
    architecture: 'lfm2',
    layers: 4,
    normEpsilon: 1e-5,
    hybrid: { attentionLayers: [1, 3], convolutionTokens: 3 },
  },
  // Rows of 512 and 1024 numbers: several blocks of every quantised type.
  'small-llama': {
    ...tinyLlama,
    ...real,
    embeddingDimension: 512,
    feedForwardDimension: 1024,
    heads: 8,
    tiedOutput: false,
  },
  'qwen2.5-0.5b': {
    ...real,
    architecture: 'qwen2',
    layers: 24,
    embeddingDimension: 896,
    feedForwardDimension: 4864,
    heads: 14,
    kvHeads: 2,
    vocabularyTokens: 151_936,
    contextTokens: 32_768,
    ropeBase: 1_000_000,
    normEpsilon: 1e-6,
    tiedOutput: true,
  },
  'llama-3.2-1b': { ...llama1b, layers: 16, vocabularyTokens: 128_256 },
  'llama-1b-4-layers': { ...llama1b, layers: 4, fullLayers: 16 },
  'llama-8b-2-layers': {
    ...llama1b,
    layers: 2,
    fullLayers: 32,
    embeddingDimension: 4096,
    feedForwardDimension: 14_336,
    headDimension: 128,
    tiedOutput: false,
  },
  'llama-70b-1-layer': {
    ...llama1b,
    layers: 1,
    fullLayers: 80,
    embeddingDimension: 8192,
    feedForwardDimension: 28_672,
    heads: 64,
    headDimension: 128,
    tiedOutput: false,
  },
} as const satisfies Readonly<Record<string, ModelShape>>;

export type ModelShapeName = keyof typeof modelShapes;
