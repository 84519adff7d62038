import { createRequire } from 'node:module';
import type { PreTrainedTokenizer, Tensor } from '@xenova/transformers';
import { BenchError } from '../config/bench-error.ts';
import type { Embedder, EmbedderInfo } from './embedder.ts';
import { badModel, fileSha256, readModelFolder, type ModelFolder } from './model-folder.ts';
import { pool, type Pooling } from './pooling.ts';
import { readSentenceLayout } from './sentence-layout.ts';

interface OnnxRuntime {
  InferenceSession: { create(path: string, options: object): Promise<object> };
}

/** A tokenizer, an encoder, and the pooling of token vectors. */
interface Encoder {
  readonly tokenizer: PreTrainedTokenizer;
  readonly encode: Encode;
  /** Undefined if the folder does not say: then the weights must give a vector for the whole text. */
  readonly pooling: Pooling | undefined;
}

type Encode = (inputs: object) => Promise<Readonly<Record<string, Tensor | undefined>>>;

/**
 * Sentence encoder on transformers.js: pooling by the model's own files, texts truncated at its maximum, nothing fetched.
 * Each text is evaluated alone: in a padded batch the scales of a dynamically quantised model, and the last bits of any
 * other, would depend on the other texts.
 *
 * @example
 * ```ts
 * import { TransformersEmbedder } from 'dki-bench';
 *
 * const embedder = await TransformersEmbedder.open('models/embed-en-zh');
 * const [vector] = await embedder.embed([embedder.info.prompts.query + 'Where do I live?']);
 * console.log(vector?.length === embedder.info.dimension);
 * ```
 */
export class TransformersEmbedder implements Embedder {
  readonly info: EmbedderInfo;
  readonly #encoder: Encoder;

  private constructor(info: EmbedderInfo, encoder: Encoder) {
    this.info = info;
    this.#encoder = encoder;
  }

  /**
   * Loads the model of a folder and tries it on one text.
   * @throws BenchError `bad-model` if files are missing or broken, or do not name the pooling
   */
  static async open(folder: string): Promise<TransformersEmbedder> {
    const model = readModelFolder(folder);
    const { path, name, weightsPath, config } = model;
    const { pooling, dimension: written, maxTokens, prompts } = readSentenceLayout(path);
    try {
      const { PreTrainedModel } = await import('@xenova/transformers');
      const tokenizer = await openTokenizer(model);
      const encode = new PreTrainedModel(config, await openOnnxSession(weightsPath)) as unknown as Encode;
      tokenizer.model_max_length = Math.min(
        limit(tokenizer.model_max_length),
        limit(config['max_position_embeddings']),
        limit(maxTokens),
      );
      const encoder = { tokenizer, encode, pooling };
      const [vector] = await embedAll(['proof'], encoder);
      const dimension = vector?.length ?? 0;
      if (written !== undefined && written !== dimension) {
        throw badModel(path, `gives ${dimension} numbers a text, and its 1_Pooling/config.json says ${written}`);
      }
      const info = { name, dimension, sha256: await fileSha256(weightsPath), path: weightsPath, prompts };
      return new TransformersEmbedder(info, encoder);
    } catch (error) {
      if (error instanceof UnknownPooling) throw unknownPooling(path);
      if (error instanceof BenchError) throw error;
      throw badModel(path, `cannot be run: ${(error as Error).message.split('\n')[0]}`, error);
    }
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors = await embedAll(texts, this.#encoder);
    return vectors.map((vector) => vector ?? new Float32Array(this.info.dimension));
  }
}

/**
 * Opens an ONNX file on one thread: transformers.js passes no options to its sessions, and the runtime's default, one
 * spinning thread a core, would take cores from the language model whose time is measured.
 *
 * @throws the runtime's own error if the file cannot be read or is not a model
 */
async function openOnnxSession(path: string): Promise<object> {
  // The copy of the runtime that transformers.js uses: it does not recognise the tensors of another.
  const require = createRequire(createRequire(import.meta.url).resolve('@xenova/transformers'));
  const { InferenceSession } = require('onnxruntime-node') as OnnxRuntime;
  return InferenceSession.create(path, { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 });
}

/** Opens the tokenizer as AutoTokenizer does, but from files already read: AutoTokenizer also looks on a remote host. */
async function openTokenizer({ tokenizer, tokenizerConfig }: ModelFolder): Promise<PreTrainedTokenizer> {
  const { AutoTokenizer, PreTrainedTokenizer } = await import('@xenova/transformers');
  const classes = AutoTokenizer.TOKENIZER_CLASS_MAPPING as Readonly<Record<string, typeof PreTrainedTokenizer>>;
  const name = tokenizerConfig['tokenizer_class'];
  const Tokenizer = typeof name === 'string' ? classes[name.replace(/Fast$/, '')] : undefined;
  return new (Tokenizer ?? PreTrainedTokenizer)(tokenizer, tokenizerConfig);
}

/** Embeds texts one by one; null for a text without tokens. */
async function embedAll(
  texts: readonly string[],
  { tokenizer, encode, pooling }: Encoder,
): Promise<(Float32Array | null)[]> {
  const vectors: (Float32Array | null)[] = [];
  for (const text of texts) {
    // Without `max_length`, which would pad.
    const inputs = tokenizer([text], { truncation: true }) as { input_ids: Tensor };
    if (inputs.input_ids.size === 0) {
      vectors.push(null);
      continue;
    }
    vectors.push(vectorOf(await encode(inputs), pooling));
  }
  return vectors;
}

/** Takes the model's own sentence vector, or pools its token vectors. */
function vectorOf(output: Awaited<ReturnType<Encode>>, pooling: Pooling | undefined): Float32Array {
  const whole = output['sentence_embedding'];
  if (pooling === undefined && whole !== undefined) return Float32Array.from(whole.data as Float32Array);
  const hidden = output['last_hidden_state'] ?? output['token_embeddings'];
  if (hidden === undefined) {
    throw new Error(`no last_hidden_state among its outputs: ${Object.keys(output).join(', ')}`);
  }
  if (pooling === undefined) throw new UnknownPooling();
  return pool(hidden.data as Float32Array, hidden.dims.at(-1)!, pooling);
}

/** Signals that neither the files nor the weights define the pooling. */
class UnknownPooling extends Error {}

function unknownPooling(folder: string): BenchError {
  return new BenchError(
    'bad-model',
    `embedding model ${folder} does not name its pooling`,
    'write what its authors say into 1_Pooling/config.json in that folder:' +
      ' {"pooling_mode_mean_tokens": true} or {"pooling_mode_cls_token": true}',
  );
}

/** Reads a limit; tokenisers without one have an absurd value, or none. */
function limit(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < 1e9 ? value : Infinity;
}
