import { BenchError } from '../../base/bench-error.ts';
import type { Embedder, EmbedderInfo } from './embedder.ts';
import { badModel, fileSha256, readModelFolder } from './model-folder.ts';
import { openOnnxSession, type OnnxSession } from './onnx-session.ts';
import { pool, type Pooling } from './pooling.ts';
import { readSentenceLayout } from './sentence-layout.ts';
import { SentenceTokenizer } from './sentence-tokenizer.ts';

/** A tokenizer, an encoder, and the pooling of token vectors. */
interface Encoder {
  readonly tokenizer: SentenceTokenizer;
  readonly session: OnnxSession;
  /** Undefined if the folder does not say: then the weights must give a vector for the whole text. */
  readonly pooling: Pooling | undefined;
}

/**
 * Sentence encoder in the layout of transformers.js: pooling by the model's own files, texts truncated at its maximum, nothing fetched.
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
   * @param runtime the only ONNX runtime to try, as `openOnnxSession`
   * @throws BenchError `bad-model` if files are missing or broken, or do not name the pooling
   */
  static async open(folder: string, runtime?: string): Promise<TransformersEmbedder> {
    const { path, name, weightsPath, config, tokenizer, tokenizerConfig } = readModelFolder(folder);
    const { pooling, dimension: written, maxTokens, prompts } = readSentenceLayout(path);
    try {
      const session = await openOnnxSession(weightsPath, runtime);
      const longest = Math.min(
        limit(tokenizerConfig['model_max_length']),
        limit(config['max_position_embeddings']),
        limit(maxTokens),
      );
      const encoder = { tokenizer: new SentenceTokenizer(tokenizer, tokenizerConfig, longest), session, pooling };
      const [vector] = await embedAll(['proof'], encoder);
      const dimension = vector?.length ?? 0;
      if (written !== undefined && written !== dimension) {
        throw badModel(path, `gives ${dimension} numbers a text, and its 1_Pooling/config.json says ${written}`);
      }
      const sha256 = await fileSha256(weightsPath);
      const info = { name, dimension, sha256, path: weightsPath, runtime: session.runtime, prompts };
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

/** Embeds texts one by one; null for a text without tokens. */
async function embedAll(
  texts: readonly string[],
  { tokenizer, session, pooling }: Encoder,
): Promise<(Float32Array | null)[]> {
  const vectors: (Float32Array | null)[] = [];
  for (const text of texts) {
    const ids = tokenizer.encode(text);
    vectors.push(ids.length === 0 ? null : vectorOf(await session.run(feedsOf(ids, session)), pooling));
  }
  return vectors;
}

/** The inputs that an encoder of one whole text may ask for. */
function feedsOf(ids: readonly number[], { inputs }: OnnxSession): Record<string, readonly number[]> {
  const known: Readonly<Record<string, readonly number[]>> = {
    input_ids: ids,
    attention_mask: ids.map(() => 1),
    token_type_ids: ids.map(() => 0),
    position_ids: ids.map((_, position) => position),
  };
  const foreign = inputs.find((input) => !(input in known));
  if (foreign !== undefined) throw new Error(`it wants an input that no sentence encoder has: ${foreign}`);
  return Object.fromEntries(inputs.map((input) => [input, known[input]!]));
}

/** Takes the model's own sentence vector, or pools its token vectors. */
function vectorOf(output: Awaited<ReturnType<OnnxSession['run']>>, pooling: Pooling | undefined): Float32Array {
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
