import { expect, test } from 'vitest';
import { stopTextWatcher, textThatStays } from './stop-texts.ts';

/** One byte a token, so that a character outside ASCII is split over tokens. */
const detokenize = (tokens: readonly number[]): string => Buffer.from(tokens).toString('utf8');
const tokens = (text: string): number[] => [...Buffer.from(text)];

function firstStop(stopTexts: readonly string[], text: string): { after: number; before: string } | undefined {
  const watch = stopTextWatcher(stopTexts, detokenize);
  const all = tokens(text);
  for (let end = 1; end <= all.length; end++) {
    const before = watch(all.slice(0, end));
    if (before !== undefined) return { after: end, before };
  }
  return undefined;
}

test('stops as soon as a stop text is complete, and cuts before it', () => {
  expect(firstStop(['\nUser:'], ' In Oslo.\nUser: thanks')).toEqual({ after: 15, before: ' In Oslo.' });
});

test('the first of several stop texts wins', () => {
  expect(firstStop(['\nUser:', '\n\n'], 'a\n\nUser:')).toEqual({ after: 3, before: 'a' });
});

test('finds a stop text of several bytes a character, far behind the start', () => {
  expect(firstStop(['。用户'], `${'我喜欢喝茶，'.repeat(20)}是的。用户：`)?.before).toBe(
    `${'我喜欢喝茶，'.repeat(20)}是的`,
  );
});

test('does not stop where there is nothing to stop at', () => {
  expect(firstStop(['\nUser:'], 'User: \nUse')).toBeUndefined();
  expect(firstStop([], 'anything')).toBeUndefined();
});

test.each([
  ['In Oslo.', 'In Oslo.'],
  ['In Oslo.\n', 'In Oslo.'],
  ['In Oslo.\nUse', 'In Oslo.'],
  ['In Oslo.\nUsual', 'In Oslo.\nUsual'],
  ['In Oslo\ufffd', 'In Oslo'],
  ['In Oslo\n\ufffd', 'In Oslo'],
])('of %j, %j stays whatever comes', (text, stays) => {
  expect(textThatStays(text, ['\nUser:', '\n\n'])).toBe(stays);
});
