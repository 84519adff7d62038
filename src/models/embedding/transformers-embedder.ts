import { BenchError } from '../../base/bench-error.ts';
import type { Embedder, EmbedderInfo } from './embedder.ts';
import { badModel, type EmbedderFolder, type Pooling, readEmbedderFolder } from './read-embedder-folder.ts';
import { openOnnxSession, type OnnxSession } from './onnx-session.ts';
import { fileChecksum } from '../hub/file-checksum.ts';
import { Tokenizer } from '@huggingface/tokenizers';

/**
 * Sentence encoder in the layout of transformers.js: pooling by the model's own files, texts truncated at its maximum, no
 * downloads. Each text is evaluated alone: in a padded batch the scales of a dynamically quantised model, and the last bits
 * of any other, would depend on the other texts.
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
  readonly #vector: (text: string) => Promise<Float32Array>;

  private constructor(info: EmbedderInfo, vector: (text: string) => Promise<Float32Array>) {
    this.info = info;
    this.#vector = vector;
  }

  /**
   * Loads the model of a folder and tries it on one text.
   * @param runtime the only ONNX runtime to try, as `openOnnxSession`
   * @throws BenchError `bad-model` if files are missing or broken, or do not name the pooling
   */
  static async open(folder: string, runtime?: string): Promise<TransformersEmbedder> {
    const model = readEmbedderFolder(folder);
    const { path, name, weightsPath, prompts } = model;
    try {
      const session = await openOnnxSession(weightsPath, runtime);
      const tokenize = embedderTokenizer(model.tokenizer, model.tokenizerConfig, model.maxTokens);
      const { length: dimension } = await evaluate(tokenize('proof'), session, model);
      if (model.dimension !== undefined && model.dimension !== dimension) {
        throw badModel(
          path,
          `gives ${dimension} numbers per text, but its 1_Pooling/config.json says ${model.dimension}`,
        );
      }
      const sha256 = await fileChecksum(weightsPath);
      const info = { name, dimension, sha256, path: weightsPath, runtime: session.runtime, prompts };
      return new TransformersEmbedder(info, async (text) => {
        const ids = tokenize(text);
        return ids.length === 0 ? new Float32Array(dimension) : await evaluate(ids, session, model);
      });
    } catch (error) {
      if (error instanceof BenchError) throw error;
      throw badModel(path, `cannot be run: ${(error as Error).message.split('\n')[0]}`, error);
    }
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await this.#vector(text));
    return vectors;
  }
}

/** The model's sentence vector, or its token vectors pooled. @throws BenchError if nothing defines the pooling */
async function evaluate(ids: readonly number[], session: OnnxSession, { path, pooling }: EmbedderFolder) {
  const known: Readonly<Record<string, readonly number[]>> = {
    input_ids: ids,
    attention_mask: ids.map(() => 1),
    token_type_ids: ids.map(() => 0),
    position_ids: ids.map((_, position) => position),
  };
  const unknown = session.inputs.find((input) => !(input in known));
  if (unknown !== undefined) throw new Error(`it needs an input that is not supported: ${unknown}`);
  const output = await session.run(Object.fromEntries(session.inputs.map((input) => [input, known[input]!])));
  const sentence = output['sentence_embedding'];
  if (pooling === undefined && sentence !== undefined) return Float32Array.from(sentence.data as Float32Array);
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
  if (pooling === 'first' || pooling === 'last') {
    const start = pooling === 'first' ? 0 : values.length - dimension;
    return Float32Array.from({ length: dimension }, (_, i) => values[start + i]!);
  }
  if (pooling === 'max') {
    const largest = new Float32Array(dimension).fill(-Infinity);
    for (let i = 0; i < values.length; i++) largest[i % dimension] = Math.max(largest[i % dimension]!, values[i]!);
    return largest;
  }
  const sum = new Float64Array(dimension);
  for (let i = 0; i < values.length; i++) sum[i % dimension]! += values[i]!;
  return Float32Array.from(sum, (value) => value / (values.length / dimension));
}

type JsonObject = Readonly<Record<string, unknown>>;

// The package's type declarations cannot be resolved from an ES module.
const HubTokenizer = Tokenizer as new (
  document: object,
  config: object,
) => { encode(text: string, options?: { readonly add_special_tokens: boolean }): { readonly ids: number[] } };

/**
 * Makes a function that gives the token ids of a text, with the special tokens of the encoder around it. A text over the limit
 * is cut at its end, and the special tokens stay.
 * @param document `tokenizer.json` @param config `tokenizer_config.json`
 * @param maxTokens longest sequence, special tokens included
 */
export function embedderTokenizer(document: JsonObject, config: JsonObject, maxTokens: number) {
  const added = (document['added_tokens'] ?? []) as readonly { readonly special?: boolean }[];
  // A text that spells a special token holds those characters, not that token.
  const plain = new HubTokenizer(
    { ...document, added_tokens: added.filter(({ special }) => special !== true) },
    config,
  );
  const framing = new HubTokenizer(document, config);
  const bare = framing.encode('a', { add_special_tokens: false }).ids;
  const framed = framing.encode('a').ids;
  const start = Math.max(
    0,
    framed.findIndex((_, at) => bare.every((id, place) => framed[at + place] === id)),
  );
  const before = framed.slice(0, start);
  const after = framed.slice(start + bare.length);
  return (text: string) => {
    const { ids } = plain.encode(text, { add_special_tokens: false });
    return [...before, ...ids.slice(0, maxTokens - before.length - after.length), ...after];
  };
}
