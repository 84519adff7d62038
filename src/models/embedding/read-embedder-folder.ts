import { existsSync, readFileSync } from 'node:fs';
import { join, resolve, basename } from 'node:path';
import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import type { TextPurpose } from './embedder.ts';

/** Ways to pool token vectors: mean, first token, last token, or the maximum of each dimension. */
export type Pooling = 'mean' | 'first' | 'last' | 'max';

type JsonObject = Readonly<Record<string, unknown>>;

/** A sentence encoder on disk, in the layout that transformers.js and optimum share. */
export type EmbedderFolder = ReturnType<typeof readEmbedderFolder>;

const MODULES = 'modules.json';
const POOLING = '1_Pooling/config.json';
const LIMITS = 'sentence_bert_config.json';
const PROMPTS = 'config_sentence_transformers.json';

/** Paths of the files that are read, within the folder of a sentence encoder. */
export const embedderFiles = {
  required: ['config.json', 'tokenizer.json', 'tokenizer_config.json'],
  /** The first that exists is used. */
  weights: ['onnx/model.onnx', 'onnx/model_quantized.onnx'],
  /** Files of sentence-transformers. */
  optional: [MODULES, POOLING, LIMITS, PROMPTS],
} as const;

/** Supported modules: the encoder, pooling, and normalisation, which is done whether or not it is listed. */
const SUPPORTED_MODULES = /\.(?:Transformer|Pooling|Normalize)$/;
const POOLING_MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'first',
  pooling_mode_lasttoken: 'last',
  pooling_mode_max_tokens: 'max',
};

const jsonObject = z.record(z.string(), z.unknown());
const modulesSchema = z.array(z.looseObject({ type: z.string() }));
const poolingSchema = z.looseObject({
  ...Object.fromEntries(Object.keys(POOLING_MODES).map((mode) => [mode, z.boolean().optional()])),
  word_embedding_dimension: z.int().positive().optional(),
  include_prompt: z.boolean().default(true),
});
const limitsSchema = z.looseObject({ max_seq_length: z.int().positive().nullish() });
const promptsSchema = z.looseObject({
  prompts: z.record(z.string(), z.string()).nullish(),
  default_prompt_name: z.string().nullish(),
});

/**
 * Reads a model's folder, except its weights.
 * @throws BenchError `bad-model` naming the folder and the files that are missing or broken, or what is not supported
 */
export function readEmbedderFolder(folder: string) {
  const path = resolve(folder);
  const weightsPath = presentWeights(path);
  const [config, tokenizer, tokenizerConfig] = embedderFiles.required.map((file) => read(path, file, jsonObject)!);
  const unsupported = read(path, MODULES, modulesSchema)?.find(({ type }) => !SUPPORTED_MODULES.test(type));
  if (unsupported !== undefined) throw badModel(path, `has an unsupported module, ${unsupported.type} (${MODULES})`);
  const pooling = read(path, POOLING, poolingSchema);
  const prompts = readPrompts(path);
  if (pooling?.include_prompt === false && Object.values(prompts).some((prompt) => prompt !== '')) {
    throw badModel(path, `excludes its prompts from pooling, which is not supported (${POOLING})`);
  }
  const limits = [
    tokenizerConfig!['model_max_length'],
    config!['max_position_embeddings'],
    read(path, LIMITS, limitsSchema)?.max_seq_length,
  ];
  return {
    path,
    name: folderName(path),
    weightsPath,
    tokenizer: tokenizer!,
    tokenizerConfig: tokenizerConfig!,
    // The smallest limit that a file states; some state a huge value for none. Infinity if none does.
    maxTokens: Math.min(
      ...(limits.filter((limit) => typeof limit === 'number' && limit > 0 && limit < 1e9) as number[]),
    ),
    // Undefined if the folder does not say.
    pooling: pooling === undefined ? undefined : poolingMode(path, pooling),
    dimension: pooling?.word_embedding_dimension,
    prompts,
  };
}

/** The path of the weights. @throws BenchError if any required file is missing */
function presentWeights(path: string): string {
  const weights = embedderFiles.weights.map((file) => join(path, file)).find((file) => existsSync(file));
  const missing: string[] = embedderFiles.required.filter((file) => !existsSync(join(path, file)));
  if (weights === undefined) missing.push(embedderFiles.weights.join(' or '));
  if (weights !== undefined && missing.length === 0) return weights;
  throw badModel(path, existsSync(path) ? `lacks ${missing.join(', ')}` : 'does not exist');
}

function readPrompts(path: string): Readonly<Record<TextPurpose, string>> {
  const { prompts, default_prompt_name: byDefault } = read(path, PROMPTS, promptsSchema) ?? {};
  const prompt = (...names: readonly string[]): string =>
    [...names, byDefault ?? ''].map((name) => prompts?.[name]).find((text) => text !== undefined) ?? '';
  return { query: prompt('query'), document: prompt('document', 'passage', 'corpus') };
}

function poolingMode(path: string, config: JsonObject): Pooling {
  const modes = Object.keys(config).filter((key) => key.startsWith('pooling_mode_') && config[key] === true);
  const pooling = modes.length === 1 ? POOLING_MODES[modes[0]!] : undefined;
  if (pooling !== undefined) return pooling;
  throw badModel(path, `has an unsupported pooling: ${modes.join(' and ') || 'none'} (${POOLING})`);
}

function read<Schema extends z.ZodType>(folder: string, file: string, schema: Schema): z.output<Schema> | undefined {
  const path = join(folder, file);
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const why = issue === undefined ? (error as Error).message : `${issue.path.join('.')}: ${issue.message}`;
    throw badModel(folder, `has a broken ${file}: ${why}`, error);
  }
}

/** Error for a folder that is not a usable embedding model. @param problem completes the sentence "embedding model …" */
export function badModel(path: string, problem: string, cause?: unknown): BenchError {
  return new BenchError(
    'bad-model',
    `embedding model ${path} ${problem}`,
    `--embedder takes a folder with ${embedderFiles.required.join(', ')} and ${embedderFiles.weights.join(' or ')}`,
    cause,
  );
}

/** Name of an embedder: that of the repository if the folder is a hub snapshot, else of the folder. */
function folderName(folder: string): string {
  const snapshot = /[/\\]models--[^/\\]+?--([^/\\]+)[/\\]snapshots[/\\][^/\\]+$/.exec(folder);
  return snapshot?.[1] ?? basename(folder);
}
