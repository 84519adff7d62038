import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import type { KnownModel } from '../engine-info.ts';
import type { Rotary } from '../sequence-state.ts';
import type { TokenIds } from '../token-id.ts';
import {
  type GgufFile,
  type GgufList,
  type GgufPair,
  modelParts,
  readFileBytes,
  readGgufFile,
  refusal,
} from './gguf-file.ts';
import { checkGgufMetadata } from './check-gguf-metadata.ts';
import { queriesObstacle } from './write-first-layers.ts';
import { countNumbers, weightShares } from './tensor-types.ts';
import { countDuplicateWeights } from './count-duplicate-weights.ts';

/** Architectures for which RoPE pairs neighbouring dimensions; the other supported ones pair the halves of a head. */
const NEIGHBOUR_PAIRING = ['llama'];
const DEFAULT_ROPE_BASE = 10_000;
const FLOAT_BYTES = 4;
/** Limit on RoPE frequency factors, one per pair of a head's numbers; llama.cpp refuses larger tensors. */
const MAX_FREQUENCIES = 2 ** 13;
/** Keys of recurrent layers. */
const RECURRENT = /^[^.]+\.(ssm|shortconv|wkv|kda|token_shift)[._]/;
const STOP_TOKENS = ['eos_token_id', 'eot_token_id', 'eom_token_id'];

export type ModelHeader = Readonly<ReturnType<typeof readModelHeader>>;

/**
 * Reads the header of a GGUF file, without weights.
 * @throws BenchError `bad-model` if the file is not GGUF, is cut short, lacks a required key, or has an impossible value
 */
export function readModelHeader(path: string) {
  const files = modelParts(path).map(readGgufFile);
  const file = { ...files[0]!, tensors: files.flatMap(({ tensors }) => tensors) };
  const { metadata, tensors } = file;
  const architecture = textValue(metadata.get('general.architecture'));
  if (architecture === undefined) throw notALanguageModel(path, 'general.architecture');
  checkGgufMetadata(file, architecture);
  const vocabulary = metadata.get('tokenizer.ggml.tokens')?.value as GgufList | undefined;
  if (vocabulary === undefined) throw notALanguageModel(path, 'tokenizer.ggml.tokens');
  const pair = (key: string): GgufPair | undefined => metadata.get(`${architecture}.${key}`);
  const count = (key: string): number | undefined => numberValue(pair(key));
  const required = (key: string): number => {
    const value = count(key);
    if (value !== undefined) return value;
    // OpenELM and DeciLM differ by layer in what others have once.
    throw notALanguageModel(path, `${pair(key) === undefined ? '' : 'single '}${architecture}.${key}`);
  };
  const heads = required('attention.head_count');
  const layers = required('block_count');
  const kvHeadCount = pair('attention.head_count_kv') ?? pair('attention.head_count')!;
  const kvHeads = listValues(kvHeadCount) ?? Array<unknown>(layers).fill(kvHeadCount.value);
  const headDimension = count('attention.key_length') ?? required('embedding_length') / heads;
  const valueDimension = count('attention.value_length') ?? headDimension;
  const sections = listValues(pair('rope.dimension_sections'));
  const window = count('attention.sliding_window');
  const storedParameters = tensors.reduce((sum, tensor) => sum + countNumbers(tensor.dimensions), 0);
  return {
    name: textValue(metadata.get('general.name')) ?? basename(path, '.gguf'),
    architecture,
    /** Not counting an output layer that repeats the token embedding. */
    parameters: storedParameters - countDuplicateWeights(files),
    /** Numbers in all tensors, as llama.cpp counts them. */
    storedParameters,
    weights: weightShares(tensors),
    trainContextTokens: required('context_length'),
    vocabularySize: vocabulary.values.length,
    layers,
    /** Number of files that the model is split into. */
    parts: files.length,
    /** A metadata key with one number per layer; undefined if there is none. */
    listByLayer: listByLayer(file, architecture, layers),
    /** Why queries cannot replace keys (see `writeFirstLayers`); undefined if they can. */
    queriesObstacle: queriesObstacle(file, layers),
    /** Query heads per layer. */
    heads,
    /** KV heads per layer; undefined if layers differ. */
    kvHeads: numberValue(kvHeadCount),
    headDimension,
    valueDimension,
    kvNumbersPerToken: kvHeads.reduce<number>((sum, one) => sum + Number(one), 0) * (headDimension + valueDimension),
    ...readRope(files, architecture, headDimension, layers),
    positionDimensions: sections?.filter((size) => Number(size) > 0).length ?? 1,
    /** Window of some or all layers; undefined if all layers have full attention. */
    slidingWindowTokens: window === 0 ? undefined : window,
    /** Some layers have one state for all tokens (Mamba, short convolutions, linear attention) instead of keys and values. */
    isRecurrent: hasRecurrentLayers(metadata, kvHeads),
    /** Keys and values are stored as compressed vectors (MLA). */
    isCompressed: pair('attention.kv_lora_rank') !== undefined,
    stopTokens: readStopTokens(metadata, vocabulary.values),
    chatTemplate: textValue(metadata.get('tokenizer.chat_template')),
  };
}

function hasRecurrentLayers(metadata: GgufFile['metadata'], kvHeads: readonly unknown[]): boolean {
  return kvHeads.includes(0) || [...metadata.keys()].some((key) => RECURRENT.test(key));
}

function listByLayer({ metadata }: GgufFile, architecture: string, layers: number): string | undefined {
  const isByLayer = ({ value }: GgufPair): boolean => typeof value === 'object' && value.values.length === layers;
  return [...metadata].find(([key, pair]) => key.startsWith(`${architecture}.`) && isByLayer(pair))?.[0];
}

function readRope(files: readonly GgufFile[], architecture: string, headDimension: number, layers: number) {
  const pair = (key: string): GgufPair | undefined => files[0]!.metadata.get(`${architecture}.rope.${key}`);
  const isLong = findFileWithTensor(files, 'rope_factors_long.weight') !== undefined;
  const scaling = isLong ? 'longrope' : textValue(pair('scaling.type'));
  // `scale_linear` is the key in older files; 0 means no scaling.
  const factor = numberValue(pair('scaling.factor')) ?? numberValue(pair('scale_linear')) ?? 0;
  const rotary: Rotary = {
    base: numberValue(pair('freq_base')) ?? DEFAULT_ROPE_BASE,
    scale: scaling === 'none' || factor === 0 ? 1 : 1 / factor,
    pairing: NEIGHBOUR_PAIRING.includes(architecture) ? 'norm' : 'neox',
    dimensions: numberValue(pair('dimension_count')) ?? headDimension,
    factors: readFrequencyFactors(findFileWithTensor(files, 'rope_freqs.weight')),
    ...(architecture === 'gemma3' ? { windowed: windowedRope(layers, numberValue(pair('freq_base_swa'))) } : {}),
  };
  /** `ropeScaling`: the file's own name, such as `none`, `linear` or `yarn`; `longrope` whenever the file has long-RoPE factors. */
  return { rotary, ropeScaling: scaling ?? (factor === 0 ? 'none' : 'linear') };
}

/** Gemma 3: every sixth layer has full attention; the others have a sliding window, and their RoPE is never scaled. */
function windowedRope(layers: number, base = DEFAULT_ROPE_BASE): NonNullable<Rotary['windowed']> {
  const windowed = [...Array(layers).keys()].filter((layer) => layer % 6 !== 5);
  return { layers: windowed, base, scale: 1 };
}

function notALanguageModel(path: string, key: string): BenchError {
  const hint = 'name a GGUF file of a decoder language model';
  return new BenchError('bad-model', `${path}: its header has no ${key}`, hint);
}

function textValue(pair: GgufPair | undefined): string | undefined {
  return typeof pair?.value === 'string' ? pair.value : undefined;
}

function numberValue(pair: GgufPair | undefined): number | undefined {
  return typeof pair?.value === 'number' ? pair.value : undefined;
}

function listValues(pair: GgufPair | undefined): GgufList['values'] | undefined {
  return typeof pair?.value === 'object' ? pair.value.values : undefined;
}

function readStopTokens(metadata: GgufFile['metadata'], vocabulary: GgufList['values']): KnownModel['stopTokens'] {
  const ids = STOP_TOKENS.map((key) => numberValue(metadata.get(`tokenizer.ggml.${key}`)));
  return [...new Set(ids)].flatMap((id) => {
    const text = id === undefined ? undefined : vocabulary[id];
    return id === undefined || typeof text !== 'string' ? [] : [{ id, text }];
  });
}

function findFileWithTensor(files: readonly GgufFile[], tensor: string): GgufFile | undefined {
  return files.find(({ tensors }) => tensors.some(({ name }) => name === tensor));
}

function readFrequencyFactors(found: GgufFile | undefined): number[] | null {
  if (found === undefined) return null;
  const { path, tensors } = found;
  const tensor = tensors.find(({ name }) => name === 'rope_freqs.weight')!;
  const numbers = Math.min(countNumbers(tensor.dimensions), MAX_FREQUENCIES);
  const bytes = readFileBytes(path, tensor.fileOffset, numbers * FLOAT_BYTES);
  if (bytes.length < numbers * FLOAT_BYTES) throw refusal(path, 'ends inside rope_freqs.weight');
  return Array.from({ length: numbers }, (_, index) => bytes.readFloatLE(index * FLOAT_BYTES));
}

/** Bits per number: blocks have 32 numbers of 8 bits and a scale of 16 bits. */
const Q8_0_BITS = (34 * 8) / 32;

/** Describes a model from the header of its file. */
export function describeModel(header: ModelHeader, sizeBytes: number): KnownModel {
  const { name, architecture, parameters, trainContextTokens, vocabularySize, layers, stopTokens } = header;
  const { kvNumbersPerToken, slidingWindowTokens, rotary } = header;
  const kvBytes = (bits: number): number => (kvNumbersPerToken * bits) / 8;
  return {
    name,
    architecture,
    parameters,
    sizeBytes,
    trainContextTokens,
    vocabularySize,
    layers,
    kvBytesPerToken: { f16: kvBytes(16), q8_0: kvBytes(Q8_0_BITS) },
    attention: slidingWindowTokens === undefined ? 'full' : `sliding window of ${slidingWindowTokens} tokens`,
    rope: { base: rotary.base, scaling: header.ropeScaling, scale: rotary.scale },
    stopTokens,
    chatTemplate: header.chatTemplate ?? null,
  };
}

const CONTROL = 3;

/** Ids of the control tokens listed in a model file. @throws BenchError `bad-model` */
export function controlTokens(path: string): TokenIds {
  const kinds = readGgufFile(path).metadata.get('tokenizer.ggml.token_type')?.value;
  return typeof kinds === 'object' ? [...kinds.values.keys()].filter((id) => kinds.values[id] === CONTROL) : [];
}
