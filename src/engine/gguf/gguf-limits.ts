import { type GgufFile, type GgufList, type GgufPair, refusal } from './gguf-file.ts';
import { requireComputable } from './gguf-tensor-limits.ts';

/** The most layers and experts that llama.cpp has space for; with more it ends the process. */
const MOST_LAYERS = 512;
const MOST_EXPERTS = 512;
const MOST_POSITIONS = 2 ** 31 - 1;

interface Range {
  readonly least: number;
  readonly most: number;
  /** The list may give a number for each layer, which may then be 0. */
  readonly byLayer?: true;
}

/** Whole numbers that llama.cpp computes with unseen, by their key behind the architecture. */
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
/** Names of having no tokenizer. */
const NO_TOKENIZER = ['none', 'no_vocab'];
const SENTENCEPIECE = 'llama';
/** Byte tokens, which SentencePiece gives for a character that its vocabulary lacks. */
const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
/** Stands for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** Kinds of the elements of a tokenizer's lists, and whether there is one for each token. */
const TOKENIZER_LISTS: Readonly<Record<string, { readonly kinds: readonly string[]; readonly perToken: boolean }>> = {
  'tokenizer.ggml.tokens': { kinds: ['text'], perToken: true },
  'tokenizer.ggml.scores': { kinds: ['float32'], perToken: true },
  'tokenizer.ggml.token_type': { kinds: ['int32', 'uint32'], perToken: true },
  'tokenizer.ggml.merges': { kinds: ['text'], perToken: false },
};

/**
 * Refuses values that a model cannot have and on which llama.cpp ends the process, hangs, or reads beyond a list. Values that
 * llama.cpp refuses itself are left to it, and values that are missing to whoever needs them.
 * @throws BenchError `bad-model` naming key, value and what is expected
 */
export function requirePossible(file: GgufFile, architecture: string): void {
  const at = (key: string): GgufPair | undefined => file.metadata.get(`${architecture}.${key}`);
  const refuse = (key: string, found: unknown, expected: string): never => {
    throw refusal(file.path, `${key} expected ${expected}, got ${String(found)}`);
  };
  const layers = numberAt(at('block_count'));
  for (const [key, range] of Object.entries(WHOLE)) {
    const pair = at(key);
    if (pair !== undefined) requireWhole(`${architecture}.${key}`, pair, range, layers, refuse);
  }
  for (const [key, { value }] of file.metadata) {
    if (!key.startsWith(`${architecture}.`)) continue;
    const numbers = isList(value) ? value.values : [value];
    const odd = numbers.find((number) => typeof number === 'number' && !Number.isFinite(number));
    if (odd !== undefined) refuse(key, odd, 'a finite number');
  }
  for (const key of ['attention.layer_norm_rms_epsilon', 'attention.layer_norm_epsilon']) {
    const epsilon = numberAt(at(key));
    if (epsilon !== undefined && (epsilon < 0 || epsilon > 1)) refuse(`${architecture}.${key}`, epsilon, '0 to 1');
  }
  const base = numberAt(at('rope.freq_base'));
  if (base !== undefined && base < 1) refuse(`${architecture}.rope.freq_base`, base, '1 or more');
  const scaling = at('rope.scaling.type')?.value;
  if (typeof scaling === 'string' && !ROPE_SCALINGS.includes(scaling)) {
    refuse(`${architecture}.rope.scaling.type`, shown(scaling), ROPE_SCALINGS.join(' or '));
  }
  requireProportions(architecture, (key) => numberAt(at(key)), refuse);
  requireTokenizerLists(file, refuse);
  const ffnLength = at('feed_forward_length')?.value ?? 0;
  requireComputable(file, {
    architecture,
    rotated: numberAt(at('rope.dimension_count')) ?? headDimensionOf((key) => numberAt(at(key))),
    ffnLength: (layer) => Number(isList(ffnLength) ? ffnLength.values[layer] : ffnLength),
  });
}

type Refuse = (key: string, found: unknown, expected: string) => never;

function requireWhole(
  key: string,
  { value }: GgufPair,
  { least, most, byLayer }: Range,
  layers: number | undefined,
  refuse: Refuse,
): void {
  const isWhole = (number: unknown, from: number): boolean =>
    typeof number === 'number' && Number.isInteger(number) && number >= from && number <= most;
  if (!isList(value)) {
    if (!isWhole(value, least)) refuse(key, shown(value), `a whole number from ${least} to ${most}`);
    return;
  }
  if (byLayer === undefined) refuse(key, 'a list', 'one number');
  if (value.values.length !== layers) refuse(key, `${value.values.length} numbers`, `one for each of ${layers} layers`);
  const odd = value.values.find((number) => !isWhole(number, 0));
  if (odd !== undefined) refuse(key, shown(odd), `whole numbers from 0 to ${most}`);
}

/** Numbers that must divide each other, or be no larger. */
function requireProportions(architecture: string, at: (key: string) => number | undefined, refuse: Refuse): void {
  const heads = at('attention.head_count');
  const kvHeads = at('attention.head_count_kv');
  const keyLength = at('attention.key_length');
  const embedding = at('embedding_length');
  const layers = at('block_count');
  const predicting = at('nextn_predict_layers') ?? 0;
  if (layers !== undefined && predicting >= layers) {
    refuse(`${architecture}.nextn_predict_layers`, predicting, `fewer than the ${layers} layers`);
  }
  if (heads !== undefined && kvHeads !== undefined && heads % kvHeads !== 0) {
    refuse(`${architecture}.attention.head_count_kv`, kvHeads, `a divisor of ${heads} heads`);
  }
  if (heads !== undefined && embedding !== undefined && keyLength === undefined && embedding % heads !== 0) {
    refuse(`${architecture}.attention.head_count`, heads, `a divisor of embedding_length ${embedding}`);
  }
  const rotated = at('rope.dimension_count');
  if (rotated !== undefined && rotated % 2 !== 0)
    refuse(`${architecture}.rope.dimension_count`, rotated, 'an even number');
  const headDimension = headDimensionOf(at);
  if (rotated !== undefined && headDimension !== undefined && rotated > headDimension) {
    refuse(`${architecture}.rope.dimension_count`, rotated, `at most the ${headDimension} numbers of a head`);
  }
  const [experts = 0, used = 0] = [at('expert_count'), at('expert_used_count')];
  if (used > experts || (experts > 0 && used === 0)) {
    refuse(`${architecture}.expert_used_count`, used, `some of ${experts} experts`);
  }
}

function headDimensionOf(at: (key: string) => number | undefined): number | undefined {
  const [heads, embedding] = [at('attention.head_count'), at('embedding_length')];
  return at('attention.key_length') ?? (heads === undefined || embedding === undefined ? undefined : embedding / heads);
}

function requireTokenizerLists({ metadata }: GgufFile, refuse: Refuse): void {
  const tokens = metadata.get('tokenizer.ggml.tokens')?.value;
  const count = isList(tokens) ? tokens.values.length : 0;
  for (const [key, { kinds, perToken }] of Object.entries(TOKENIZER_LISTS)) {
    const value = metadata.get(key)?.value;
    if (value === undefined) continue;
    if (!isList(value) || !kinds.includes(value.kind)) {
      return refuse(key, isList(value) ? `a list of ${value.kind}` : shown(value), `a list of ${kinds[0]}`);
    }
    if (perToken && (value.values.length !== count || count === 0)) {
      refuse(
        key,
        `${value.values.length} elements`,
        count === 0 ? 'one token at least' : `one for each of ${count} tokens`,
      );
    }
  }
  if (isList(tokens)) requireTokens(tokens, metadata.get('tokenizer.ggml.model')?.value, refuse);
}

/** An empty token has a name of its own in llama.cpp; tokens that are no UTF-8 cannot be told apart here. */
function requireTokens({ values }: GgufList, tokenizer: unknown, refuse: Refuse): void {
  if (NO_TOKENIZER.includes(String(tokenizer))) refuse('tokenizer.ggml.model', tokenizer, 'a tokenizer');
  const met = new Set<unknown>();
  for (const [id, token] of values.entries()) {
    if (met.has(token)) refuse('tokenizer.ggml.tokens', `that of token ${id} again`, 'each text once');
    if (token !== '' && !String(token).includes(REPLACEMENT)) met.add(token);
  }
  const missing = tokenizer === SENTENCEPIECE ? BYTES.find((byte) => !met.has(byte)) : undefined;
  if (missing !== undefined) refuse('tokenizer.ggml.tokens', `no ${missing}`, 'a token for each byte');
}

function isList(value: GgufPair['value'] | undefined): value is GgufList {
  return typeof value === 'object';
}

function numberAt(pair: GgufPair | undefined): number | undefined {
  return typeof pair?.value === 'number' ? pair.value : undefined;
}

/** A text may be long, and hold anything. */
function shown(value: unknown): string {
  return typeof value === 'string' ? 'a text' : String(value);
}
