import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { GgufFileInfo } from 'node-llama-cpp';
import { BenchError } from '../../config/bench-error.ts';
import type { TokenId } from '../token-id.ts';

/** llama.cpp pairs neighbouring dimensions for these; for all others that are supported, the two halves of a head. */
const NEIGHBOUR_PAIRING = ['llama'];
const DEFAULT_ROPE_BASE = 10_000;
const FLOAT_BYTES = 4;
const STOP_TOKENS = ['eos_token_id', 'eot_token_id', 'eom_token_id'];

/** Rotation of keys by position, as the file describes it: what moving a cached key must undo and redo. */
export interface RopeLayout {
  readonly base: number;
  /** Multiplies every angle: 1 / factor of linear scaling, 1 without it. */
  readonly frequencyScale: number;
  /** Dimensions of a head that are rotated, from the first on. */
  readonly dimensions: number;
  /** `norm` rotates the pairs (2j, 2j+1), `neox` the pairs (j, j + dimensions/2). */
  readonly pairing: 'norm' | 'neox';
  /** As the file names it: `none`, `linear`, `yarn`; `longrope` also where the file has factors for it. */
  readonly scaling: string;
  /** Divides the angle of pair j; undefined where the model has no tensor `rope_freqs.weight` (Llama 3 has one). */
  readonly frequencyFactors: readonly number[] | undefined;
}

/** A model as the header of its GGUF file describes it. */
export interface GgufHeader {
  readonly name: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly trainContextTokens: number;
  readonly vocabularySize: number;
  readonly layers: number;
  /** K/V heads of a layer; undefined where layers differ. */
  readonly kvHeads: number | undefined;
  /** Numbers in the key of one head. */
  readonly headDimension: number;
  /** Numbers in the value of one head. */
  readonly valueDimension: number;
  /** Numbers that a token has in the keys and values of all layers. */
  readonly kvNumbersPerToken: number;
  readonly rope: RopeLayout;
  /** Dimensions in which a token has a position: more than one with M-RoPE. */
  readonly positionDimensions: number;
  /** Tokens that some or all layers see back; undefined where all see everything. */
  readonly slidingWindowTokens: number | undefined;
  /** Tokens at which generation ends, as the file names them: of a text, of a turn, of a message. */
  readonly stopTokens: readonly { readonly id: TokenId; readonly text: string }[];
  /** The Jinja template of the model's own chat format. */
  readonly chatTemplate: string | undefined;
}

/**
 * Reads the header of a GGUF file, without its weights.
 * @throws BenchError `bad-model` where the file is not GGUF, is cut short, or lacks what every language model has
 */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await readFile(path);
  const { metadata } = file;
  const { architecture } = metadata.general;
  const read = (key: string): unknown => valueAt(metadata, `${architecture}.${key}`);
  const count = (key: string): number | undefined => countOf(read(key));
  const required = (key: string): number => {
    const value = count(key);
    if (value === undefined) throw notALanguageModel(path, `${architecture}.${key}`);
    return value;
  };

  const vocabulary = valueAt(metadata, 'tokenizer.ggml.tokens');
  if (!Array.isArray(vocabulary)) throw notALanguageModel(path, 'tokenizer.ggml.tokens');
  const heads = required('attention.head_count');
  const kvHeadCount = read('attention.head_count_kv') ?? heads;
  const kvHeads = countOf(kvHeadCount);
  const layers = required('block_count');
  const headDimension = count('attention.key_length') ?? required('embedding_length') / heads;
  const valueDimension = count('attention.value_length') ?? headDimension;
  const scaling = scalingOf(read('rope.scaling.type'), file);
  // The second is what older files say in place of the first; 0 stands for neither.
  const scalingFactor = count('rope.scaling.factor') ?? count('rope.scale_linear') ?? 0;
  const slidingWindowTokens = count('attention.sliding_window') ?? 0;
  const sections = read('rope.dimension_sections');
  const rope: RopeLayout = {
    base: count('rope.freq_base') ?? DEFAULT_ROPE_BASE,
    frequencyScale: scaling === 'none' || scalingFactor === 0 ? 1 : 1 / scalingFactor,
    dimensions: count('rope.dimension_count') ?? headDimension,
    pairing: NEIGHBOUR_PAIRING.includes(architecture) ? 'norm' : 'neox',
    scaling: scaling ?? (scalingFactor === 0 ? 'none' : 'linear'),
    frequencyFactors: await readFrequencyFactors(path, file),
  };
  return {
    name: metadata.general.name ?? basename(path, '.gguf'),
    architecture,
    parameters: (file.fullTensorInfo ?? []).reduce((sum, tensor) => sum + elements(tensor.dimensions), 0),
    trainContextTokens: required('context_length'),
    vocabularySize: vocabulary.length,
    layers,
    kvHeads,
    headDimension,
    valueDimension,
    kvNumbersPerToken: sumOverLayers(kvHeadCount, layers) * (headDimension + valueDimension),
    rope,
    positionDimensions: Array.isArray(sections) ? sections.filter((size) => Number(size) > 0).length : 1,
    slidingWindowTokens: slidingWindowTokens === 0 ? undefined : slidingWindowTokens,
    stopTokens: stopTokensOf(metadata, vocabulary),
    chatTemplate: metadata.tokenizer.chat_template,
  };
}

async function readFile(path: string): Promise<GgufFileInfo> {
  const { readGgufFileInfo } = await import('node-llama-cpp');
  const incomplete = (cause?: unknown): BenchError =>
    new BenchError(
      'bad-model',
      `${path}: not a complete GGUF file`,
      'name a language model in GGUF format; if it was downloaded, download it again',
      cause,
    );
  let file: GgufFileInfo;
  try {
    file = await readGgufFileInfo(path, { sourceType: 'filesystem', logWarnings: false });
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (syscall === undefined) throw incomplete(cause);
    throw new BenchError('bad-model', `${path} cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
  // The reader takes what lies behind the end of a file for zeros.
  if ((file.infoEndOffset ?? 0) > (await stat(path)).size) throw incomplete();
  return file;
}

function notALanguageModel(path: string, key: string): BenchError {
  return new BenchError(
    'bad-model',
    `${path}: its header has no ${key}`,
    'name a GGUF file of a decoder language model',
  );
}

/** The value under a dotted key of nested metadata. */
function valueAt(metadata: unknown, key: string): unknown {
  let value = metadata;
  for (const part of key.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

/** Of a number that holds for every layer, or of one for each. */
function sumOverLayers(value: unknown, layers: number): number {
  return Array.isArray(value)
    ? value.reduce<number>((sum, one) => sum + Number(one), 0)
    : (countOf(value) ?? 0) * layers;
}

function scalingOf(type: unknown, { tensorInfo = [] }: GgufFileInfo): string | undefined {
  if (tensorInfo.some(({ name }) => name === 'rope_factors_long.weight')) return 'longrope';
  return typeof type === 'string' ? type : undefined;
}

function stopTokensOf(metadata: unknown, vocabulary: readonly unknown[]): GgufHeader['stopTokens'] {
  const ids = STOP_TOKENS.map((key) => countOf(valueAt(metadata, `tokenizer.ggml.${key}`)));
  return [...new Set(ids)].flatMap((id) => {
    const text = id === undefined ? undefined : vocabulary[id];
    return id === undefined || typeof text !== 'string' ? [] : [{ id, text }];
  });
}

function elements(dimensions: readonly (number | bigint)[]): number {
  return dimensions.reduce<number>((product, dimension) => product * Number(dimension), 1);
}

async function readFrequencyFactors(path: string, file: GgufFileInfo): Promise<number[] | undefined> {
  const tensor = file.tensorInfo?.find(({ name }) => name === 'rope_freqs.weight');
  if (tensor === undefined) return undefined;
  const bytes = Buffer.alloc(elements(tensor.dimensions) * FLOAT_BYTES);
  await using handle = await open(path);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, Number(tensor.fileOffset));
  if (bytesRead < bytes.length) {
    throw new BenchError(
      'bad-model',
      `${path}: ends inside rope_freqs.weight`,
      'the file was cut short: fetch it again',
    );
  }
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) => bytes.readFloatLE(index * FLOAT_BYTES));
}
