import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { GgufValue } from './gguf-writer.ts';

/** `src/engine/gguf/random-model` and `dist/engine/gguf/random-model` are equally deep. */
const TOKENIZER = fileURLToPath(new URL('../../../../models/tokenizer.json', import.meta.url));
const tokenizerSchema = z.object({
  model: z.object({
    vocab: z.record(z.string(), z.int()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  }),
});
const NORMAL = 1;
const CONTROL = 3;
const MARKER = /^<(?:\/?s|\|.*\|)>$/;

/** Of ChatML. */
const TURN_START = '<|im_start|>';
const TURN_END = '<|im_end|>';

/** The first tokens of the shipped vocabulary. */
const specialTokens = { bos: 0, eos: 1, padding: 2 } as const;

/**
 * The vocabulary of the shipped model as a GGUF header, padded to a size: byte-level BPE, so that any text has
 * tokens. No text has one of the tokens that fill it up; where a model gives one, it reads as ` r1536`.
 *
 * @param forChat whether ChatML's markers come first among the tokens that fill it up
 * @throws RangeError where the shipped vocabulary is larger than the size
 */
export function paddedVocabulary(size: number, forChat: boolean): Record<string, GgufValue> {
  const { vocab, merges } = tokenizerSchema.parse(JSON.parse(readFileSync(TOKENIZER, 'utf8'))).model;
  const shipped = Object.entries(vocab)
    .sort(([, a], [, b]) => a - b)
    .map(([token]) => token);
  if (shipped.length > size) throw new RangeError(`${shipped.length} tokens do not fit into a vocabulary of ${size}`);
  const markers = forChat ? [TURN_START, TURN_END] : [];
  const first = [...shipped, ...markers];
  const tokens = Array.from({ length: size }, (_, id) => first[id] ?? `Ġr${id}`);
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': { texts: tokens },
    'tokenizer.ggml.token_type': { integers: tokens.map((token) => (MARKER.test(token) ? CONTROL : NORMAL)) },
    'tokenizer.ggml.merges': {
      texts: merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' '))),
    },
    'tokenizer.ggml.bos_token_id': specialTokens.bos,
    'tokenizer.ggml.eos_token_id': specialTokens.eos,
    'tokenizer.ggml.padding_token_id': specialTokens.padding,
    ...(forChat ? { 'tokenizer.ggml.eot_token_id': first.indexOf(TURN_END) } : {}),
  };
}
