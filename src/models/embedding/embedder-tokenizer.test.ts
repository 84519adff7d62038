import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { presetModels } from '../default-models.ts';
import { embedderTokenizer } from './transformers-embedder.ts';

const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
const special = (id: number, content: string) => ({ id, content, special: true, ...plain });
const frame = (content: string, id: number) => ({ id: content, ids: [id], tokens: [content] });
const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'tea', 'cof', '##fee', '[', ']', 'sep', 'a'];
const wordPiece = {
  added_tokens: [special(1, '[UNK]'), special(2, '[CLS]'), special(3, '[SEP]')],
  truncation: null,
  padding: null,
  decoder: null,
  normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [],
    special_tokens: { '[CLS]': frame('[CLS]', 2), '[SEP]': frame('[SEP]', 3) },
  },
  model: {
    ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
    vocab: Object.fromEntries(words.map((word, id) => [word, id])),
  },
};
const config = { tokenizer_class: 'BertTokenizer', unk_token: '[UNK]', cls_token: '[CLS]', sep_token: '[SEP]' };

it.each([
  ['puts the special tokens around a text', 512, 'Tea, coffee', [2, 4, 1, 5, 6, 3]],
  ['cuts the text, not them', 4, 'Tea, coffee', [2, 4, 1, 3]],
  ['gives them alone for no text', 512, '', [2, 3]],
  ['reads a special token that a text spells as characters', 512, '[SEP] tea', [2, 7, 9, 8, 4, 3]],
])('%s', (_, limit, text, ids) => {
  expect(embedderTokenizer(wordPiece, config, limit)(text)).toEqual(ids);
});

it('cuts at the limit and keeps the special tokens, for the embedder that ships', () => {
  const [document, own] = ['tokenizer.json', 'tokenizer_config.json'].map(
    (file) => JSON.parse(readFileSync(join(presetModels.embedder, file), 'utf8')) as Record<string, unknown>,
  );
  const whole = embedderTokenizer(document!, own!, Infinity)('I like tea. '.repeat(40));
  const cut = embedderTokenizer(document!, own!, 20)('I like tea. '.repeat(40));
  expect(cut).toEqual([...whole.slice(0, 19), whole.at(-1)]);
  expect([whole[0], whole.at(-1)]).toEqual([0, 1]);
});
