import { type GgufFile, type GgufList, type GgufPair, type GgufTensorInfo, refusal } from './gguf-file.ts';

/** Limits of llama.cpp on layers and experts; it crashes on more. */
const MAX_LAYERS = 512;
const MAX_EXPERTS = 512;
const MAX_POSITIONS = 2 ** 31 - 1;

/** Ranges of integers that llama.cpp does not check, by key without the architecture prefix. */
const INTEGER_RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  block_count: [1, MAX_LAYERS],
  context_length: [1, MAX_POSITIONS],
  embedding_length: [1, 2 ** 20],
  feed_forward_length: [0, 2 ** 24],
  vocab_size: [1, 2 ** 24],
  expert_count: [0, MAX_EXPERTS],
  expert_used_count: [0, MAX_EXPERTS],
  'attention.head_count': [1, 2 ** 14],
  'attention.head_count_kv': [1, 2 ** 14],
  'attention.key_length': [1, 2 ** 14],
  'attention.value_length': [1, 2 ** 14],
  'attention.sliding_window': [0, MAX_POSITIONS],
  'rope.dimension_count': [2, 2 ** 14],
};
/** Keys that may also have a list with one number per layer, 0 included. */
const BY_LAYER = ['feed_forward_length', 'attention.head_count', 'attention.head_count_kv'];
const ROPE_SCALINGS = ['none', 'linear', 'yarn', 'longrope'];
const NO_TOKENIZER = ['none', 'no_vocab'];
const SENTENCEPIECE = 'llama';
/** Byte tokens, which SentencePiece uses for characters missing from its vocabulary. */
const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const REPLACEMENT = '\uFFFD';

/** Allowed element kinds of a tokenizer's lists; all but `merges` have one element per token. */
const TOKENIZER_LISTS = {
  'tokenizer.ggml.tokens': ['text'],
  'tokenizer.ggml.scores': ['float32'],
  'tokenizer.ggml.token_type': ['int32', 'uint32'],
  'tokenizer.ggml.merges': ['text'],
} as const;

const FLOAT32 = 0;
/** GGML's numbers of types without a matrix product: intermediate results, integers, 64-bit floats. */
const NOT_FOR_WEIGHTS = [9, 15, 24, 25, 26, 27, 28];
const FFN = /^blk\.(\d+)\.ffn_(?:up|down)\.weight$/;

/**
 * Refuses impossible values on which llama.cpp would crash, hang, or read out of bounds. Does not check for missing values, or for
 * values that llama.cpp refuses itself.
 * @throws BenchError `bad-model` naming key, value and expectation
 */
export function checkGgufMetadata(file: GgufFile, architecture: string): void {
  const limits = new Limits(file, architecture);
  for (const key of Object.keys(INTEGER_RANGES)) limits.requireInteger(key);
  limits.requireFinite();
  limits.requireProportions();
  limits.requireTokenizer();
  for (const tensor of file.tensors) limits.requireComputable(tensor);
}

class Limits {
  readonly #file: GgufFile;
  readonly #prefix: string;

  constructor(file: GgufFile, architecture: string) {
    this.#file = file;
    this.#prefix = `${architecture}.`;
  }

  requireInteger(key: string): void {
    const value = this.#value(key);
    if (value === undefined) return;
    const [least, most] = INTEGER_RANGES[key]!;
    const isWhole = (number: unknown, from: number): boolean =>
      Number.isInteger(number) && Number(number) >= from && Number(number) <= most;
    if (!isList(value)) {
      if (!isWhole(value, least)) this.#refuse(key, shown(value), `a whole number from ${least} to ${most}`);
      return;
    }
    const layers = this.#number('block_count');
    if (!BY_LAYER.includes(key)) this.#refuse(key, 'a list', 'one number');
    if (value.values.length !== layers) {
      this.#refuse(key, `${value.values.length} numbers`, `one for each of ${layers} layers`);
    }
    const invalid = value.values.find((number) => !isWhole(number, 0));
    if (invalid !== undefined) this.#refuse(key, shown(invalid), `whole numbers from 0 to ${most}`);
  }

  requireFinite(): void {
    for (const [key, { value }] of this.#file.metadata) {
      const numbers = isList(value) ? value.values : [value];
      const invalid = numbers.find((number) => typeof number === 'number' && !Number.isFinite(number));
      if (invalid === undefined || !key.startsWith(this.#prefix)) continue;
      this.#refuse(key.slice(this.#prefix.length), invalid, 'a finite number');
    }
  }

  /** Checks values that must be in a range, divide each other, or not exceed others. */
  requireProportions(): void {
    const scaling = this.#value('rope.scaling.type');
    if (typeof scaling === 'string' && !ROPE_SCALINGS.includes(scaling)) {
      this.#refuse('rope.scaling.type', 'a text', ROPE_SCALINGS.join(' or '));
    }
    const { heads, layers, embedding, headDimension } = this.#sizes();
    const require = (key: string, expected: string, isPossible: (number: number) => boolean): void => {
      const number = this.#number(key);
      if (number !== undefined && !isPossible(number)) this.#refuse(key, number, expected);
    };
    for (const key of ['attention.layer_norm_rms_epsilon', 'attention.layer_norm_epsilon']) {
      require(key, '0 to 1', (epsilon) => epsilon >= 0 && epsilon <= 1);
    }
    require('rope.freq_base', '1 or more', (base) => base >= 1);
    require('nextn_predict_layers', `fewer than the ${layers} layers`, (n) => n < layers);
    require('attention.head_count_kv', `a divisor of ${heads} heads`, (n) => heads % n === 0);
    if (this.#number('attention.key_length') === undefined) {
      require('attention.head_count', `a divisor of embedding_length ${embedding}`, (n) => embedding % n === 0);
    }
    require('rope.dimension_count', 'an even number', (n) => n % 2 === 0);
    require('rope.dimension_count', `at most the ${headDimension} numbers of a head`, (n) => n <= headDimension);
    const experts = this.#number('expert_count') ?? 0;
    const used = this.#number('expert_used_count') ?? 0;
    if (used > experts || (experts > 0 && used === 0)) {
      this.#refuse('expert_used_count', used, `some of ${experts} experts`);
    }
  }

  requireTokenizer(): void {
    const { metadata } = this.#file;
    const tokens = metadata.get('tokenizer.ggml.tokens')?.value;
    const count = isList(tokens) ? tokens.values.length : 0;
    for (const [key, kinds] of Object.entries(TOKENIZER_LISTS)) {
      const value = metadata.get(key)?.value;
      if (value !== undefined) this.#requireTokenizerList(key, value, kinds, count);
    }
    if (isList(tokens)) this.#requireTokens(tokens, metadata.get('tokenizer.ggml.model')?.value);
  }

  #requireTokenizerList(key: string, value: GgufPair['value'], kinds: readonly string[], count: number): void {
    if (!isList(value)) return this.#refuse(key, shown(value), `a list of ${kinds[0]}`);
    if (!kinds.includes(value.kind)) this.#refuse(key, `a list of ${value.kind}`, `a list of ${kinds[0]}`);
    const { length } = value.values;
    if (key === 'tokenizer.ggml.merges' || (length === count && count > 0)) return;
    this.#refuse(key, `${length} elements`, count === 0 ? 'at least one token' : `one for each of ${count} tokens`);
  }

  /** Skips empty tokens, which llama.cpp renames, and invalid UTF-8, which decodes to the same text for different tokens. */
  #requireTokens({ values }: GgufList, tokenizer: unknown): void {
    if (NO_TOKENIZER.includes(String(tokenizer))) this.#refuse('tokenizer.ggml.model', tokenizer, 'a tokenizer');
    const seen = new Set<unknown>();
    for (const [id, token] of values.entries()) {
      if (seen.has(token)) this.#refuse('tokenizer.ggml.tokens', `the text of token ${id} twice`, 'unique texts');
      if (token !== '' && !String(token).includes(REPLACEMENT)) seen.add(token);
    }
    const missing = tokenizer === SENTENCEPIECE ? BYTES.find((byte) => !seen.has(byte)) : undefined;
    if (missing !== undefined) this.#refuse('tokenizer.ggml.tokens', `no ${missing}`, 'a token for each byte');
  }

  /** Refuses types that crash llama.cpp when computing, and shapes that crash it when loading; it checks other shapes itself. */
  requireComputable({ name, dimensions, type }: GgufTensorInfo): void {
    const refuse = (why: string): never => {
      throw refusal(this.#file.path, `tensor ${JSON.stringify(name)} ${why}`);
    };
    const isVector = dimensions.filter((size) => size > 1).length <= 1;
    if (isVector && type !== FLOAT32) refuse(`has numbers of type ${type}, expected a vector of 32-bit floats`);
    if (NOT_FOR_WEIGHTS.includes(type)) refuse(`has numbers of type ${type}, which is not for weights`);
    const rotated = this.#number('rope.dimension_count') ?? this.#sizes().headDimension;
    const tooFew = rotated < Infinity && Math.max(...dimensions) < rotated / 2;
    if (name === 'rope_freqs.weight' && (!isVector || tooFew)) {
      refuse(`has ${dimensions.join(' × ')} numbers, expected one for each pair of ${rotated} numbers`);
    }
    const layer = FFN.exec(name)?.[1];
    if (layer !== undefined && this.#ffnLength(Number(layer)) < 1) {
      refuse(`exists, but ${this.#prefix}feed_forward_length is 0 or missing`);
    }
  }

  #ffnLength(layer: number): number {
    const length = this.#value('feed_forward_length') ?? 0;
    return Number(isList(length) ? length.values[layer] : length);
  }

  /** Sizes of the model; unknown ones get values that pass all checks. */
  #sizes(): Readonly<Record<'heads' | 'layers' | 'embedding' | 'headDimension', number>> {
    const heads = this.#number('attention.head_count') ?? 0;
    const embedding = this.#number('embedding_length') ?? 0;
    const derived = heads > 0 && embedding > 0 ? embedding / heads : Infinity;
    const headDimension = this.#number('attention.key_length') ?? derived;
    return { heads, embedding, headDimension, layers: this.#number('block_count') ?? Infinity };
  }

  #value(key: string): GgufPair['value'] | undefined {
    return this.#file.metadata.get(this.#prefix + key)?.value;
  }

  #number(key: string): number | undefined {
    const value = this.#value(key);
    return typeof value === 'number' ? value : undefined;
  }

  #refuse(key: string, found: unknown, expected: string): never {
    const name = key.startsWith('tokenizer.') ? key : this.#prefix + key;
    throw refusal(this.#file.path, `${name} expected ${expected}, got ${String(found)}`);
  }
}

function isList(value: GgufPair['value'] | undefined): value is GgufList {
  return typeof value === 'object';
}

/** The value for a message. Texts are not shown: they may be long and contain anything. */
function shown(value: unknown): string {
  return typeof value === 'string' ? 'a text' : String(value);
}
