import { type GgufFile, type GgufList, type GgufPair, type GgufTensorInfo, refusal } from './gguf-file.ts';

/** The most layers and experts that llama.cpp has space for; with more it ends the process. */
const MOST_LAYERS = 512;
const MOST_EXPERTS = 512;
const MOST_POSITIONS = 2 ** 31 - 1;

interface Range {
  readonly least: number;
  readonly most: number;
  /** The value may be a list with a number for each layer, which may be 0. */
  readonly byLayer?: true;
}

/** Ranges of whole numbers that llama.cpp does not check, by their key behind the architecture. */
const WHOLE: Readonly<Record<string, Range>> = {
  block_count: { least: 1, most: MOST_LAYERS },
  context_length: { least: 1, most: MOST_POSITIONS },
  embedding_length: { least: 1, most: 2 ** 20 },
  feed_forward_length: { least: 0, most: 2 ** 24, byLayer: true },
  vocab_size: { least: 1, most: 2 ** 24 },
  expert_count: { least: 0, most: MOST_EXPERTS },
  expert_used_count: { least: 0, most: MOST_EXPERTS },
  'attention.head_count': { least: 1, most: 2 ** 14, byLayer: true },
  'attention.head_count_kv': { least: 1, most: 2 ** 14, byLayer: true },
  'attention.key_length': { least: 1, most: 2 ** 14 },
  'attention.value_length': { least: 1, most: 2 ** 14 },
  'attention.sliding_window': { least: 0, most: MOST_POSITIONS },
  'rope.dimension_count': { least: 2, most: 2 ** 14 },
};
const ROPE_SCALINGS = ['none', 'linear', 'yarn', 'longrope'];
/** Names for having no tokenizer. */
const NO_TOKENIZER = ['none', 'no_vocab'];
const SENTENCEPIECE = 'llama';
/** Byte tokens, which SentencePiece gives for a character that its vocabulary lacks. */
const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
/** Stands for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** Kinds of the elements of a tokenizer's lists; those of `perToken` have one element for each token. */
const TOKENIZER_LISTS: Readonly<Record<string, { readonly kinds: readonly string[]; readonly perToken: boolean }>> = {
  'tokenizer.ggml.tokens': { kinds: ['text'], perToken: true },
  'tokenizer.ggml.scores': { kinds: ['float32'], perToken: true },
  'tokenizer.ggml.token_type': { kinds: ['int32', 'uint32'], perToken: true },
  'tokenizer.ggml.merges': { kinds: ['text'], perToken: false },
};

const FLOAT32 = 0;
/** GGML's numbers of types that have no matrix product: intermediate results, whole numbers, and 64-bit numbers. */
const NOT_OF_WEIGHTS = [9, 15, 24, 25, 26, 27, 28];
const FREQUENCY_FACTORS = 'rope_freqs.weight';
/** Weights of an FFN without experts. */
const FFN = /^blk\.(\d+)\.ffn_(?:up|down)\.weight$/;

/**
 * Refuses values that a model cannot have and on which llama.cpp ends the process, hangs, or reads beyond a list. Values that
 * llama.cpp refuses itself, and missing values, are not checked here.
 * @throws BenchError `bad-model` naming key, value and what is expected
 */
export function requirePossible(file: GgufFile, architecture: string): void {
  new Limits(file, architecture).check();
}

class Limits {
  readonly #file: GgufFile;
  readonly #architecture: string;

  constructor(file: GgufFile, architecture: string) {
    this.#file = file;
    this.#architecture = architecture;
  }

  check(): void {
    for (const [key, range] of Object.entries(WHOLE)) this.#requireWhole(key, range);
    this.#requireFinite();
    for (const key of ['attention.layer_norm_rms_epsilon', 'attention.layer_norm_epsilon']) {
      this.#requireNumber(key, '0 to 1', (epsilon) => epsilon >= 0 && epsilon <= 1);
    }
    this.#requireNumber('rope.freq_base', '1 or more', (base) => base >= 1);
    const scaling = this.#pair('rope.scaling.type')?.value;
    if (typeof scaling === 'string' && !ROPE_SCALINGS.includes(scaling)) {
      this.#refuse('rope.scaling.type', 'a text', ROPE_SCALINGS.join(' or '));
    }
    this.#requireProportions();
    this.#requireTokenizerLists();
    for (const tensor of this.#file.tensors) this.#requireComputable(tensor);
  }

  #pair(key: string): GgufPair | undefined {
    return this.#file.metadata.get(`${this.#architecture}.${key}`);
  }

  #number(key: string): number | undefined {
    const value = this.#pair(key)?.value;
    return typeof value === 'number' ? value : undefined;
  }

  /** @param key behind the architecture, or that of a tokenizer */
  #refuse(key: string, found: unknown, expected: string): never {
    const name = key.startsWith('tokenizer.') ? key : `${this.#architecture}.${key}`;
    throw refusal(this.#file.path, `${name} expected ${expected}, got ${String(found)}`);
  }

  #requireWhole(key: string, { least, most, byLayer }: Range): void {
    const value = this.#pair(key)?.value;
    if (value === undefined) return;
    const isWhole = (number: unknown, from: number): boolean =>
      typeof number === 'number' && Number.isInteger(number) && number >= from && number <= most;
    if (!isList(value)) {
      if (!isWhole(value, least)) this.#refuse(key, shown(value), `a whole number from ${least} to ${most}`);
      return;
    }
    const layers = this.#number('block_count');
    if (byLayer === undefined) this.#refuse(key, 'a list', 'one number');
    if (value.values.length !== layers) {
      this.#refuse(key, `${value.values.length} numbers`, `one for each of ${layers} layers`);
    }
    const odd = value.values.find((number) => !isWhole(number, 0));
    if (odd !== undefined) this.#refuse(key, shown(odd), `whole numbers from 0 to ${most}`);
  }

  #requireFinite(): void {
    const prefix = `${this.#architecture}.`;
    for (const [key, { value }] of this.#file.metadata) {
      if (!key.startsWith(prefix)) continue;
      const numbers = isList(value) ? value.values : [value];
      const odd = numbers.find((number) => typeof number === 'number' && !Number.isFinite(number));
      if (odd !== undefined) this.#refuse(key.slice(prefix.length), odd, 'a finite number');
    }
  }

  /** Numbers that must divide each other, or be no larger. */
  #requireProportions(): void {
    const at = (key: string): number | undefined => this.#number(key);
    const heads = at('attention.head_count');
    const layers = at('block_count');
    const embedding = at('embedding_length');
    const headDimension = this.#headDimension();
    const [experts = 0, used = 0] = [at('expert_count'), at('expert_used_count')];
    this.#requireNumber('nextn_predict_layers', `fewer than the ${layers} layers`, (n) => n < (layers ?? Infinity));
    this.#requireNumber('attention.head_count_kv', `a divisor of ${heads} heads`, (n) => (heads ?? 0) % n === 0);
    if (at('attention.key_length') === undefined) {
      const divides = (n: number): boolean => (embedding ?? 0) % n === 0;
      this.#requireNumber('attention.head_count', `a divisor of embedding_length ${embedding}`, divides);
    }
    this.#requireNumber('rope.dimension_count', 'an even number', (n) => n % 2 === 0);
    const rotated = `at most the ${headDimension} numbers of a head`;
    this.#requireNumber('rope.dimension_count', rotated, (n) => n <= (headDimension ?? Infinity));
    if (used > experts || (experts > 0 && used === 0)) {
      this.#refuse('expert_used_count', used, `some of ${experts} experts`);
    }
  }

  /** Checks a number, if the header has it. */
  #requireNumber(key: string, expected: string, isPossible: (number: number) => boolean): void {
    const number = this.#number(key);
    if (number !== undefined && !isPossible(number)) this.#refuse(key, number, expected);
  }

  #headDimension(): number | undefined {
    const [heads, embedding] = [this.#number('attention.head_count'), this.#number('embedding_length')];
    const derived = heads === undefined || embedding === undefined ? undefined : embedding / heads;
    return this.#number('attention.key_length') ?? derived;
  }

  #requireTokenizerLists(): void {
    const { metadata } = this.#file;
    const tokens = metadata.get('tokenizer.ggml.tokens')?.value;
    const count = isList(tokens) ? tokens.values.length : 0;
    const each = count === 0 ? 'one token at least' : `one for each of ${count} tokens`;
    for (const [key, { kinds, perToken }] of Object.entries(TOKENIZER_LISTS)) {
      const value = metadata.get(key)?.value;
      if (value === undefined) continue;
      const found = isList(value) ? value.kind : undefined;
      if (!isList(value) || !kinds.includes(value.kind)) {
        return this.#refuse(key, found === undefined ? shown(value) : `a list of ${found}`, `a list of ${kinds[0]}`);
      }
      const { length } = value.values;
      if (perToken && (length !== count || count === 0)) this.#refuse(key, `${length} elements`, each);
    }
    if (isList(tokens)) this.#requireTokens(tokens, metadata.get('tokenizer.ggml.model')?.value);
  }

  /** llama.cpp names an empty token itself; tokens that are no UTF-8 cannot be told apart here. */
  #requireTokens({ values }: GgufList, tokenizer: unknown): void {
    if (NO_TOKENIZER.includes(String(tokenizer))) this.#refuse('tokenizer.ggml.model', tokenizer, 'a tokenizer');
    const met = new Set<unknown>();
    for (const [id, token] of values.entries()) {
      if (met.has(token)) this.#refuse('tokenizer.ggml.tokens', `that of token ${id} again`, 'each text once');
      if (token !== '' && !String(token).includes(REPLACEMENT)) met.add(token);
    }
    const missing = tokenizer === SENTENCEPIECE ? BYTES.find((byte) => !met.has(byte)) : undefined;
    if (missing !== undefined) this.#refuse('tokenizer.ggml.tokens', `no ${missing}`, 'a token for each byte');
  }

  /** llama.cpp ends the process on these types when it computes, and on these shapes when it loads; it checks other shapes. */
  #requireComputable({ name, dimensions, type }: GgufTensorInfo): void {
    const refuse = (why: string): never => {
      throw refusal(this.#file.path, `tensor ${JSON.stringify(name)} ${why}`);
    };
    const longest = Math.max(...dimensions);
    const isVector = dimensions.filter((size) => size > 1).length <= 1;
    if (isVector && type !== FLOAT32) refuse(`has numbers of type ${type}, expected a vector of 32-bit floats`);
    if (NOT_OF_WEIGHTS.includes(type)) refuse(`has numbers of type ${type}, in which no weights are`);
    const rotated = this.#number('rope.dimension_count') ?? this.#headDimension();
    if (name === FREQUENCY_FACTORS && (!isVector || longest < (rotated ?? 0) / 2)) {
      refuse(`has ${dimensions.join(' × ')} numbers, expected one for each pair of ${rotated} numbers`);
    }
    const layer = FFN.exec(name)?.[1];
    if (layer !== undefined && this.#ffnLength(Number(layer)) < 1) {
      refuse(`is there, and ${this.#architecture}.feed_forward_length says that there is none`);
    }
  }

  #ffnLength(layer: number): number {
    const length = this.#pair('feed_forward_length')?.value ?? 0;
    return Number(isList(length) ? length.values[layer] : length);
  }
}

function isList(value: GgufPair['value'] | undefined): value is GgufList {
  return typeof value === 'object';
}

/** A text may be long, and hold anything. */
function shown(value: unknown): string {
  return typeof value === 'string' ? 'a text' : String(value);
}
