import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { randomModelPrefix } from '../../../config/bench-config.ts';
import { BenchError, didYouMean, unknownOptionError } from '../../../base/bench-error.ts';
import { diskErrorHint } from '../../../base/disk-error-hint.ts';
import { bytesOfNumbers, tensorTypeId } from '../tensor-types.ts';
import { encodeHeader, type GgufTensor, type GgufTensorType, type GgufValue, writeGguf } from './write-gguf.ts';
import { type ModelShape, modelShapes, type ModelShapeName } from './model-shapes.ts';
import { modelTensors } from './model-tensors.ts';

/** The same from `src/engine/gguf/random-model` and `dist/engine/gguf/random-model`. */
const ROOT = new URL('../../../../', import.meta.url);
const CACHE_FOLDER = fileURLToPath(new URL('build/random-models/', ROOT));
const TOKENIZER = fileURLToPath(new URL('models/tokenizer.json', ROOT));
const SEED = 7;
/** Version of the weights; raise it with every change, so that older files are not reused. */
const RECIPE = 2;
/** llama.cpp's file types; for K-quants the small variant (_S), which has one type only. */
const FILE_TYPE: Readonly<Record<GgufTensorType, number>> = {
  ...{ F32: 0, F16: 1, Q4_0: 2, Q4_1: 3, Q8_0: 7, Q5_0: 8, Q4_K: 14, Q5_K: 16, Q6_K: 18 },
};
const FINGERPRINT_DIGITS = 12;
const tokenizerSchema = z.object({
  model: z.object({
    vocab: z.record(z.string(), z.int()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()]).transform((pair) => pair.join(' '))])),
  }),
});
const NORMAL = 1;
const CONTROL = 3;
const MARKER = /^<(?:\/?s|\|.*\|)>$/;

const TURN_START = '<|im_start|>';
const TURN_END = '<|im_end|>';

/**
 * Returns the file of a random model, and generates it at the first call. `random:SHAPE` has random weights in that shape,
 * `random:SHAPE:TYPE` has matrices of that type. The bytes are the same on every machine. Any other name is returned unchanged, as
 * a path.
 * @throws BenchError `bad-option` for an unknown shape, suggesting the nearest, or a type that does not fit; `disk`
 *
 * @example
 * const path = await randomModelPath('random:tiny-llama'); // …/build/random-models/tiny-llama-<hash>.gguf
 */
export async function randomModelPath(name: string): Promise<string> {
  if (!name.startsWith(randomModelPrefix)) return name;
  const [shapeName = '', typeName] = name.slice(randomModelPrefix.length).split(':');
  if (!isShapeName(shapeName)) {
    const known = Object.keys(modelShapes);
    throw new BenchError(
      'bad-option',
      `unknown random model "${shapeName}"${didYouMean(shapeName, known)}`,
      `known: ${known.map((shape) => randomModelPrefix + shape).join(', ')}`,
    );
  }
  const shape = withType(shapeName, typeName);
  const tensors = modelTensors(shape, xoroshiro128plus(SEED));
  const header = encodeHeader(modelHeader(name, shape), tensors);
  const fingerprint = createHash('sha256').update(header).digest('hex').slice(0, FINGERPRINT_DIGITS);
  const path = join(CACHE_FOLDER, `${shapeName}${typeName === undefined ? '' : `-${typeName}`}-${fingerprint}.gguf`);
  if (!existsSync(path)) await write(path, header, tensors);
  return path;
}

/** Layers of the model that a random model with fewer layers stands for; undefined for all others. */
export function fullLayers(name: string): number | undefined {
  if (!name.startsWith(randomModelPrefix)) return undefined;
  const [shapeName = ''] = name.slice(randomModelPrefix.length).split(':');
  const shape: ModelShape | undefined = isShapeName(shapeName) ? modelShapes[shapeName] : undefined;
  return shape?.fullLayers;
}

/** @throws BenchError `bad-option` for an unknown type, or if its blocks do not divide the shape's rows */
function withType(shapeName: ModelShapeName, typeName: string | undefined): ModelShape {
  const shape: ModelShape = modelShapes[shapeName];
  if (typeName === undefined) return shape;
  const known = Object.keys(FILE_TYPE).map((type) => type.toLowerCase());
  const weights = Object.keys(FILE_TYPE).find((type): type is GgufTensorType => type.toLowerCase() === typeName);
  if (weights === undefined) throw unknownOptionError('unknown type of weights', typeName, known);
  const rows = [shape.embeddingDimension, shape.feedForwardDimension, shape.heads * shape.headDimension];
  const broken = rows.find((numbers) => bytesOfNumbers(tensorTypeId(weights), numbers) === undefined);
  if (broken === undefined) return { ...shape, weights };
  const message = `${shapeName} has rows of ${broken} numbers, not divisible into blocks of ${typeName}`;
  throw new BenchError('bad-option', message, `choose another type, or ${randomModelPrefix}small-llama:${typeName}`);
}

function isShapeName(name: string): name is ModelShapeName {
  return Object.hasOwn(modelShapes, name);
}

function modelHeader(name: string, shape: ModelShape): Record<string, GgufValue> {
  const { architecture } = shape;
  return {
    'general.architecture': architecture,
    'general.name': name,
    'general.description': `random weights, recipe ${RECIPE}, seed ${SEED}`,
    'general.file_type': FILE_TYPE[shape.weights],
    'general.quantization_version': 2,
    [`${architecture}.context_length`]: shape.contextTokens,
    [`${architecture}.embedding_length`]: shape.embeddingDimension,
    [`${architecture}.block_count`]: shape.layers,
    [`${architecture}.feed_forward_length`]: shape.feedForwardDimension,
    [`${architecture}.attention.head_count`]: shape.heads,
    [`${architecture}.attention.head_count_kv`]: kvHeads(shape),
    [`${architecture}.attention.key_length`]: shape.headDimension,
    [`${architecture}.attention.value_length`]: shape.headDimension,
    [`${architecture}.attention.layer_norm_rms_epsilon`]: { float: shape.normEpsilon },
    [`${architecture}.rope.freq_base`]: { float: shape.ropeBase },
    [`${architecture}.rope.dimension_count`]: shape.headDimension,
    [`${architecture}.vocab_size`]: shape.vocabularyTokens,
    ...architectureKeys(shape),
    ...paddedVocabulary(shape.vocabularyTokens, shape.chatTemplate !== undefined),
    ...(shape.chatTemplate === undefined ? {} : { 'tokenizer.chat_template': shape.chatTemplate }),
    // As in the original models: Qwen's have no BOS.
    'tokenizer.ggml.add_bos_token': architecture === 'llama',
    'tokenizer.ggml.add_eos_token': false,
  };
}

/** KV heads of all layers; one number per layer if some layers have none. */
function kvHeads({ layers, kvHeads: heads, hybrid }: ModelShape): GgufValue {
  if (hybrid === undefined) return heads;
  return {
    integers: Array.from({ length: layers }, (_, layer) => (hybrid.attentionLayers.includes(layer) ? heads : 0)),
  };
}

/** Metadata that only some architectures have. */
function architectureKeys(shape: ModelShape): Record<string, GgufValue> {
  const { architecture, experts, slidingWindowTokens, hybrid, feedForwardDimension } = shape;
  const keys: Record<string, GgufValue | undefined> = {
    expert_count: experts?.count,
    expert_used_count: experts?.used,
    expert_feed_forward_length: experts && feedForwardDimension,
    'attention.sliding_window': slidingWindowTokens,
    'shortconv.l_cache': hybrid?.convolutionTokens,
  };
  return Object.fromEntries(
    Object.entries(keys).flatMap(([key, value]) => (value === undefined ? [] : [[`${architecture}.${key}`, value]])),
  );
}

async function write(path: string, header: Uint8Array, tensors: readonly GgufTensor[]): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.partial`;
  try {
    mkdirSync(CACHE_FOLDER, { recursive: true });
    await writeGguf(unfinished, header, tensors);
    renameSync(unfinished, path);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BenchError('disk', `${path}: the random model could not be written: ${why}`, diskErrorHint(cause), cause);
  }
}

/**
 * GGUF metadata of the shipped model's byte-level BPE vocabulary, padded to a size with tokens like ` r1536` that no text produces.
 * With `forChat`, ChatML's markers come before the padding.
 * @throws RangeError if the shipped vocabulary is larger than the size
 */
function paddedVocabulary(size: number, forChat: boolean): Record<string, GgufValue> {
  const { vocab, merges } = tokenizerSchema.parse(JSON.parse(readFileSync(TOKENIZER, 'utf8'))).model;
  const shipped = Object.entries(vocab)
    .sort(([, a], [, b]) => a - b)
    .map(([token]) => token);
  if (shipped.length > size) throw new RangeError(`${shipped.length} tokens do not fit into a vocabulary of ${size}`);
  const markers = forChat ? [TURN_START, TURN_END] : [];
  const first = [...shipped, ...markers];
  const tokens = Array.from({ length: size }, (_, id) => first[id] ?? `Ġr${id}`);
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': { texts: tokens },
    'tokenizer.ggml.token_type': { integers: tokens.map((token) => (MARKER.test(token) ? CONTROL : NORMAL)) },
    'tokenizer.ggml.merges': { texts: merges },
    'tokenizer.ggml.bos_token_id': 0,
    'tokenizer.ggml.eos_token_id': 1,
    'tokenizer.ggml.padding_token_id': 2,
    ...(forChat ? { 'tokenizer.ggml.eot_token_id': first.indexOf(TURN_END) } : {}),
  };
}
