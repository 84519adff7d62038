import { BenchError } from '../../base/bench-error.ts';
import { fileChecksum } from '../hub/remote-file.ts';
import type { Embedder, EmbedderInfo } from './embedder.ts';
import { badModel, type Pooling, readModelFolder } from './model-folder.ts';
import { openOnnxSession, type OnnxSession } from './onnx-session.ts';
import { SentenceTokenizer } from './sentence-tokenizer.ts';

/**
 * Sentence encoder in the layout of transformers.js: pooling by the model's own files,
 * texts truncated at its maximum, no downloads.
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
  readonly #tokenizer: SentenceTokenizer;
  readonly #session: OnnxSession;
  readonly #pooling: Pooling | undefined;

  private constructor(info: EmbedderInfo, tokenizer: SentenceTokenizer, session: OnnxSession, pooling?: Pooling) {
    this.info = info;
    this.#tokenizer = tokenizer;
    this.#session = session;
    this.#pooling = pooling;
  }

  /**
   * Loads the model of a folder and tries it on one text.
   * @param runtime the only ONNX runtime to try, as `openOnnxSession`
   * @throws BenchError `bad-model` if files are missing or broken, or do not name the pooling
   */
  static async open(folder: string, runtime?: string): Promise<TransformersEmbedder> {
    const { path, name, weightsPath, prompts, pooling, dimension, ...model } = readModelFolder(folder);
    try {
      const session = await openOnnxSession(weightsPath, runtime);
      const tokenizer = new SentenceTokenizer(model.tokenizer, model.tokenizerConfig, model.maxTokens);
      const probe = sentenceVector(await session.run(inputs(tokenizer.encode('proof'), session)), path, pooling);
      if (dimension !== undefined && dimension !== probe.length) {
        throw badModel(path, `gives ${probe.length} numbers a text, and its 1_Pooling/config.json says ${dimension}`);
      }
      const sha256 = await fileChecksum(weightsPath);
      const info = { name, dimension: probe.length, sha256, path: weightsPath, runtime: session.runtime, prompts };
      return new TransformersEmbedder(info, tokenizer, session, pooling);
    } catch (error) {
      if (error instanceof BenchError) throw error;
      throw badModel(path, `cannot be run: ${(error as Error).message.split('\n')[0]}`, error);
    }
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      const ids = this.#tokenizer.encode(text);
      if (ids.length === 0) vectors.push(new Float32Array(this.info.dimension));
      else vectors.push(sentenceVector(await this.#session.run(inputs(ids, this.#session)), this.info.path, this.#pooling));
    }
    return vectors;
  }
}

/** The inputs that an encoder of one whole text may have. */
function inputs(ids: readonly number[], session: OnnxSession): Record<string, readonly number[]> {
  const known: Readonly<Record<string, readonly number[]>> = {
    input_ids: ids,
    attention_mask: ids.map(() => 1),
    token_type_ids: ids.map(() => 0),
    position_ids: ids.map((_, position) => position),
  };
  const unknown = session.inputs.find((input) => !(input in known));
  if (unknown !== undefined) throw new Error(`it wants an input that no sentence encoder has: ${unknown}`);
  return Object.fromEntries(session.inputs.map((input) => [input, known[input]!]));
}

/** Takes the model's own sentence vector, or pools its token vectors. @throws BenchError if nothing defines the pooling */
function sentenceVector(
  output: Awaited<ReturnType<OnnxSession['run']>>,
  path: string,
  pooling: Pooling | undefined,
): Float32Array {
  const whole = output['sentence_embedding'];
  if (pooling === undefined && whole !== undefined) return Float32Array.from(whole.data as Float32Array);
  const hidden = output['last_hidden_state'] ?? output['token_embeddings'];
  if (hidden === undefined) {
    throw new Error(`no last_hidden_state among its outputs: ${Object.keys(output).join(', ')}`);
  }
  if (pooling === undefined) {
    throw new BenchError(
      'bad-model',
      `embedding model ${path} does not name its pooling`,
      'write what its authors say into 1_Pooling/config.json in that folder:' +
        ' {"pooling_mode_mean_tokens": true} or {"pooling_mode_cls_token": true}',
    );
  }
  return pool(hidden.data as Float32Array, hidden.dims.at(-1)!, pooling);
}

/**
 * Pools the token vectors of one text, which has no padding.
 * @param values tokens × dimension numbers, row by row, one token at least
 */
export function pool(values: ArrayLike<number>, dimension: number, pooling: Pooling): Float32Array {
  const tokens = values.length / dimension;
  const token = (index: number): Float32Array =>
    Float32Array.from({ length: dimension }, (_, i) => values[index * dimension + i]!);
  if (pooling === 'first') return token(0);
  if (pooling === 'last') return token(tokens - 1);
  if (pooling === 'max') {
    const largest = new Float32Array(dimension).fill(-Infinity);
    for (let i = 0; i < values.length; i++) largest[i % dimension] = Math.max(largest[i % dimension]!, values[i]!);
    return largest;
  }
  const sum = new Float64Array(dimension);
  for (let i = 0; i < values.length; i++) sum[i % dimension]! += values[i]!;
  return Float32Array.from(sum, (value) => value / tokens);
}
