import { expect, test } from 'vitest';
import { textTerms } from './text-terms.ts';

test.each([
  ["My Dog's name: Brenko!", ['my', 'dog', 's', 'name', 'brenko']],
  ['ＷＩＦＩ２ Café', ['wifi2', 'cafe']],
  ['喜欢猫', ['喜', '喜欢', '欢', '欢猫', '猫']],
  ['用VSCode写', ['用', 'vscode', '写']],
  ['한국어 배워요', ['한국어', '배워요']],
  ['"NEAR(a, b)" OR c* -- ;', ['near', 'a', 'b', 'or', 'c']],
  ['?! \u0000', []],
])('terms of %s', (text, terms) => {
  expect(textTerms(text)).toEqual(terms);
});
