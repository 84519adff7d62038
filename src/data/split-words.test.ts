import { expect, test } from 'vitest';
import { holdsWords, wordForm } from './split-words.ts';

test.each([
  ['15', '1.5', false],
  ['1.0', '10', false],
  ['1.0', '1', true],
  ['0.50', '.5', true],
  ['5', '-5', false],
  ['−5', '-5', true],
  ['1030', '10:30', false],
  ['10²', '102', false],
  ['1½', '11/2', false],
  ['1,234,567', '1234567', true],
  ['0471', '471', false],
  ['C++', 'C', false],
  ['C#', 'C', false],
  ['.NET', 'net', false],
  ['AT&T', 'ATT', false],
  ['A+', 'A', false],
  ['A-', 'A', false],
  ['5 %', '5%', true],
  ['5 %', '5', false],
  ['$4,500', '4500 dollars', true],
  ['-$5', '$5', false],
  ['€5', '5 €', true],
  ['€5', '$5', false],
  ['5 °C', '5°F', false],
  ['❤️', '❤', true],
  ['🍕', '😀', false],
  ['Zoé', 'Zoe\u0301', true],
  ['?!', '?', false],
  ['the nurse', 'Nurse.', true],
  ['', '?', false],
])('%j and %j have one form: %s', (a, b, same) => {
  expect(wordForm(a, 'en') === wordForm(b, 'en')).toBe(same);
});

test.each([
  ['<p>My dog is called <b>Brenko</b></p>', 'Brenko', 'en', true],
  ['My cat: Brenko/Bren (both names).', 'Brenko', 'en', true],
  ['You use C++17.', 'C++', 'en', true],
  ['You use C++.', 'C', 'en', false],
  ['I love 🍕 on Fridays.', '🍕', 'en', true],
  ['The family 👨‍👩‍👧 is here.', '👩', 'en', false],
  ['I moved in 7:30.', '7', 'en', false],
  ['Ich wohne in München.', 'münchen', 'de', true],
  ['Ich wohne in Münchenstein.', 'München', 'de', false],
  ['東京に住んでいます。', '東京', 'ja', true],
  ['ฉันชื่อสมชาย', 'สมชาย', 'th', true],
  ['它叫布伦科。', '布伦科', 'zh-Hans', true],
  ['anything', '', 'en', false],
])('%j holds %j (%s): %s', (text, part, language, held) => {
  expect(holdsWords(text, part, language)).toBe(held);
});
