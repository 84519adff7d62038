import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { badModel } from './model-folder.ts';
import type { Pooling } from './pooling.ts';

/** Purpose of an embedded text: many models have different prompts for queries and documents. */
export type TextPurpose = 'query' | 'document';

/** Pooling, limits and prompts of a sentence encoder, from the model's own files. */
export interface SentenceLayout {
  /** Undefined if the folder does not say. */
  readonly pooling: Pooling | undefined;
  /** Numbers in a vector, by the pooling file. */
  readonly dimension: number | undefined;
  /** The limit of sentence-transformers; tokenizer and weights may have other limits. */
  readonly maxTokens: number | undefined;
  /** Prefix of every text, by purpose; empty if there is none. */
  readonly prompts: Readonly<Record<TextPurpose, string>>;
}

const MODULES = 'modules.json';
const POOLING = '1_Pooling/config.json';
const LIMITS = 'sentence_bert_config.json';
const PROMPTS = 'config_sentence_transformers.json';

const modules = z.array(z.looseObject({ type: z.string() }));
const poolingConfig = z.looseObject({
  word_embedding_dimension: z.int().positive().optional(),
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
  pooling_mode_max_tokens: z.boolean().default(false),
  pooling_mode_lasttoken: z.boolean().default(false),
  pooling_mode_mean_sqrt_len_tokens: z.boolean().default(false),
  pooling_mode_weightedmean_tokens: z.boolean().default(false),
  include_prompt: z.boolean().default(true),
});
const limits = z.looseObject({ max_seq_length: z.int().positive().nullish() });
const promptConfig = z.looseObject({
  prompts: z.record(z.string(), z.string()).nullish(),
  default_prompt_name: z.string().nullish(),
});

/** Supported modules: the encoder, pooling, and normalisation, which is always done. */
const DONE_MODULES = /\.(?:Transformer|Pooling|Normalize)$/;
const DOCUMENT_NAMES = ['document', 'passage', 'corpus'];

/**
 * Reads the files of sentence-transformers in a model's folder; all are optional.
 * @throws BenchError `bad-model` for a broken file, and for a model that needs an unsupported module
 */
export function readSentenceLayout(folder: string): SentenceLayout {
  const more = read(folder, MODULES, modules)?.find(({ type }) => !DONE_MODULES.test(type));
  if (more !== undefined) throw badModel(folder, `has an unsupported module, ${more.type} (${MODULES})`);
  const pooling = read(folder, POOLING, poolingConfig);
  const { prompts, default_prompt_name: byDefault } = read(folder, PROMPTS, promptConfig) ?? {};
  const promptOf = (names: readonly string[]): string =>
    [...names, byDefault ?? ''].map((name) => prompts?.[name]).find((text) => text !== undefined) ?? '';
  const layout: SentenceLayout = {
    pooling: pooling === undefined ? undefined : poolingOf(folder, pooling),
    dimension: pooling?.word_embedding_dimension,
    maxTokens: read(folder, LIMITS, limits)?.max_seq_length ?? undefined,
    prompts: { query: promptOf(['query']), document: promptOf(DOCUMENT_NAMES) },
  };
  if (pooling?.include_prompt === false && Object.values(layout.prompts).some((prompt) => prompt !== '')) {
    throw badModel(folder, `excludes its prompts from pooling, which is not supported (${POOLING})`);
  }
  return layout;
}

function poolingOf(folder: string, config: z.output<typeof poolingConfig>): Pooling {
  const modes = Object.entries(config).flatMap(([key, value]) =>
    key.startsWith('pooling_mode_') && value === true ? [key] : [],
  );
  const [mode = 'none', ...others] = modes;
  const known: Readonly<Record<string, Pooling>> = {
    pooling_mode_mean_tokens: 'mean',
    pooling_mode_cls_token: 'first',
    pooling_mode_lasttoken: 'last',
    pooling_mode_max_tokens: 'max',
  };
  const pooling = others.length === 0 ? known[mode] : undefined;
  if (pooling !== undefined) return pooling;
  throw badModel(folder, `has an unsupported pooling: ${modes.join(' and ') || mode} (${POOLING})`);
}

function read<Schema extends z.ZodType>(folder: string, file: string, schema: Schema): z.output<Schema> | undefined {
  const path = join(folder, file);
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why =
      error instanceof z.ZodError
        ? `${error.issues[0]!.path.join('.')}: ${error.issues[0]!.message}`
        : (error as Error).message;
    throw badModel(folder, `has a broken ${file}: ${why}`, error);
  }
}
