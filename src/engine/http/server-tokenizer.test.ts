import { expect, test } from 'vitest';
import { openServerTokenizer, type TokenRoutes } from './server-tokenizer.ts';

const CONTROL = new Map([
  ['</s>', 0],
  ['<|role|>', 1],
]);
/** Token of "?" and the first character of a control token's name, as in byte-pair vocabularies. */
const MERGED = 2;

/** A tokeniser with one token per character, except control tokens and the pair "?<". */
const routes = (showsControl: boolean): TokenRoutes => ({
  encode: (text, { parse }) => {
    const pieces = text.match(parse ? /<\/s>|<\|role\|>|./gsu : /\?<|./gsu) ?? [];
    const idOf = (piece: string): number => (piece === '?<' ? MERGED : piece.codePointAt(0)!);
    return Promise.resolve(pieces.map((piece) => (parse ? CONTROL.get(piece) : undefined) ?? idOf(piece)));
  },
  decode: (ids) => {
    const textOf = (id: number): string => {
      const name = [...CONTROL].find(([, control]) => control === id)?.[0];
      if (name !== undefined) return showsControl ? name : '';
      return id === MERGED ? '?<' : String.fromCodePoint(id);
    };
    return Promise.resolve(ids.map(textOf).join(''));
  },
});

test.each([true, false])(
  'a character in front of a control token is none itself, where control tokens are shown: %s',
  async (showsControl) => {
    const tokenizer = await openServerTokenizer(routes(showsControl), { eos: '</s>' }, {});
    const template = { text: 'Well?<|role|>', as: 'template' as const };
    expect((await tokenizer.tokenize([template], {}))[0]!.at(-1)).toBe(1);
    await expect(tokenizer.tokenize([{ text: 'Which hotel?', as: 'text' }], {})).resolves.toHaveLength(1);
    expect(await tokenizer.detokenize([[63, 1]], {})).toEqual(['?']);
  },
);
