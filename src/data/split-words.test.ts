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
  ['twenty-five', '25', true],
  ['two hundred', '2 hundred', false],
  ['two', '2', true],
  ['one', '1', false],
  ['twenty-first', '20 first', false],
  ['May 12th, 2024', '12 May 2024', true],
  ['2024-05-12', 'May 12, 2024', true],
  ['5km', '5 kilometres', true],
  ['4G', '4 g', true],
  ['42B', '42 B', false],
  ['3pm', '3 p.m.', true],
  ['07:30', '7:30', true],
  ['7:30pm', '7:30 p.m.', true],
  ['7:30pm', '7:30', false],
  ['$ 45', '45 USD', true],
  ['EUR 2,500', '€2500', true],
  ['5 degrees Celsius', '5°C', true],
  ['U.S.A.', 'USA', true],
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
  ['您有二十只猫。', '20只', 'zh', true],
  ['您有二十只猫。', '十只', 'zh', false],
  ['她三十五岁。', '５岁', 'zh', false],
  ['三明治', '3', 'zh', false],
  ['您有一个朋友。', '1', 'zh', false],
  ['您早来一点。', '1', 'zh', false],
  ['一月十四日', '1月14日', 'zh', true],
  ['她一岁。', '1岁', 'zh', true],
  ['一万元', '10,000元', 'zh', true],
  ['第一名', '1名', 'zh', true],
  ['二〇二四年三月五号', '2024-03-05', 'zh', true],
  ['两千两百元', '2200元', 'zh', true],
  ['五千米', '5 km', 'zh', false],
  ['跑５公里', '5千米', 'zh', true],
  ['百分之五十', '50％', 'zh', true],
  ['￥12,000', '1.2万元', 'zh', true],
  ['anything', '', 'en', false],
])('%j holds %j (%s): %s', (text, part, language, held) => {
  expect(holdsWords(text, part, language)).toBe(held);
});

test('answers of older runs keep the words of version 2', () => {
  const isSame = (a: string, b: string, language: string) => wordForm(a, language, 2) === wordForm(b, language, 2);
  expect(isSame('7:30pm', '7:30 pm', 'en')).toBe(false);
  expect(isSame('一月', '1月', 'zh')).toBe(false);
  expect(isSame('两万', '20000', 'zh')).toBe(true);
});
