import { expect, test } from 'vitest';
import { isAbstention } from './abstention.ts';

test.each([
  ["I don't know.", true],
  ['i don’t know', true],
  ["I don't know Dr. Moreau's birthday.", true],
  ["I'm sorry, but I don't have access to that information.", true],
  ["I'm sorry. You haven't told me. Could you tell me?", true],
  ['Based on our conversation, there is no mention of a dog.', true],
  ["I can't say.", true],
  ["Your sister's dog is not mentioned in your memories.", true],
  ['The memories you shared do not say.', false],
  ['The provided memories do not say.', true],
  ['Unknown.', true],
  ['Unknown Pleasures.', false],
  ['The code is 4821, which is not known.', false],
  ["You didn't tell Tom.", false],
  ["I don't know, but maybe Brenko.", false],
  ["I don't know. Brenko.", false],
  ["I'm sorry, it is Brenko.", false],
  ['Brenko.', false],
  ['', false],
])('abstention: %s is %s', (answer, abstains) => {
  expect(isAbstention(answer, "I don't know.", 'en')).toBe(abstains);
});

test.each([
  ['无法回答这个问题。', true],
  ['很抱歉，我没有您姐姐的信息。', true],
  ['根据您提供的信息，我无法确定。', true],
  ['您还没有告诉过我。', true],
  ['不好意思。我不太清楚，请您告诉我。', true],
  ['我不确定，应该是雷克斯。', false],
  ['我不知道。是雷克斯。', false],
  ['您没有狗。', false],
])('abstention in Chinese: %s is %s', (answer, abstains) => {
  expect(isAbstention(answer, '我不知道。', 'zh')).toBe(abstains);
});

test('recognises an abstention in the words of the data set', () => {
  expect(isAbstention('Ask Bob', 'Ask Bob.', 'en')).toBe(true);
});
