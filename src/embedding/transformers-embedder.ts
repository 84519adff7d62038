import type { PreTrainedTokenizer, Tensor } from '@xenova/transformers';
import type { Embedder, EmbedderInfo } from './embedder.ts';
import { badModel, fileSha256, readModelFolder, type ModelFolder } from './model-folder.ts';
import { openOnnxSession } from './onnx-session.ts';

type Encode = (inputs: object) => Promise<Readonly<Record<string, Tensor | undefined>>>;

/**
 * A sentence encoder on transformers.js: mean pooling over the tokens, the text cut at the model's maximum, nothing
 * ever fetched. Each text is evaluated alone: in a padded batch the scales of a dynamically quantised model, and the
 * last bits of any other, would depend on the neighbours.
 */
export class TransformersEmbedder implements Embedder {
  readonly info: EmbedderInfo;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #encode: Encode;

  private constructor(info: EmbedderInfo, tokenizer: PreTrainedTokenizer, encode: Encode) {
    this.info = info;
    this.#tokenizer = tokenizer;
    this.#encode = encode;
  }

  /**
   * Loads the model of a folder and proves it on one text.
   *
   * @throws BenchError `bad-model` where files are missing or broken
   */
  static async open(folder: string): Promise<TransformersEmbedder> {
    const model = readModelFolder(folder);
    const { path, name, weightsPath, config } = model;
    try {
      const { PreTrainedModel } = await import('@xenova/transformers');
      const tokenizer = await openTokenizer(model);
      const encoder = new PreTrainedModel(config, await openOnnxSession(weightsPath)) as unknown as Encode;
      tokenizer.model_max_length = Math.min(
        limit(tokenizer.model_max_length),
        limit(config['max_position_embeddings']),
      );
      const [vector] = await embedAll(['proof'], tokenizer, encoder);
      const info = { name, dimension: vector?.length ?? 0, sha256: await fileSha256(weightsPath), path: weightsPath };
      return new TransformersEmbedder(info, tokenizer, encoder);
    } catch (error) {
      throw badModel(path, `cannot be run: ${(error as Error).message.split('\n')[0]}`, error);
    }
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors = await embedAll(texts, this.#tokenizer, this.#encode);
    return vectors.map((vector) => vector ?? new Float32Array(this.info.dimension));
  }
}

/** As AutoTokenizer does it, from files that were read already: it looks for them on a host of its own as well. */
async function openTokenizer({ tokenizer, tokenizerConfig }: ModelFolder): Promise<PreTrainedTokenizer> {
  const { AutoTokenizer, PreTrainedTokenizer } = await import('@xenova/transformers');
  const classes = AutoTokenizer.TOKENIZER_CLASS_MAPPING as Readonly<Record<string, typeof PreTrainedTokenizer>>;
  const name = tokenizerConfig['tokenizer_class'];
  const Tokenizer = typeof name === 'string' ? classes[name.replace(/Fast$/, '')] : undefined;
  return new (Tokenizer ?? PreTrainedTokenizer)(tokenizer, tokenizerConfig);
}

/** Null for a text without a token. */
async function embedAll(
  texts: readonly string[],
  tokenizer: PreTrainedTokenizer,
  encode: Encode,
): Promise<(Float32Array | null)[]> {
  const vectors: (Float32Array | null)[] = [];
  for (const text of texts) {
    // Not with `max_length`, which pads to it.
    const inputs = tokenizer([text], { truncation: true }) as { input_ids: Tensor };
    if (inputs.input_ids.size === 0) {
      vectors.push(null);
      continue;
    }
    const output = await encode(inputs);
    const hidden = output['last_hidden_state'] ?? output['token_embeddings'];
    if (hidden === undefined)
      throw new Error(`no last_hidden_state among its outputs: ${Object.keys(output).join(', ')}`);
    vectors.push(mean(hidden));
  }
  return vectors;
}

/** Mean over the tokens of a [1, tokens, dimension] tensor; a text alone has no padding to leave out. */
function mean({ data, dims }: Tensor): Float32Array {
  const [, tokens = 0, dimension = 0] = dims;
  const sum = new Float64Array(dimension);
  for (let i = 0; i < tokens * dimension; i++) sum[i % dimension]! += (data as Float32Array)[i]!;
  return Float32Array.from(sum, (value) => value / tokens);
}

/** Tokenisers without a limit of their own carry an absurd one, or none. */
function limit(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < 1e9 ? value : Infinity;
}
