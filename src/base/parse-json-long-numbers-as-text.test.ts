import { expect, test } from 'vitest';
import { parseJsonLongNumbersAsText } from './parse-json-long-numbers-as-text.ts';

test.each([
  ['{"user":1234567890123456789}', { user: '1234567890123456789' }],
  ['[1234567890123456788,-9007199254740993]', ['1234567890123456788', '-9007199254740993']],
  [
    '{"a":9007199254740991,"b":1e300,"c":0.1234567890123456789}',
    { a: 9007199254740991, b: 1e300, c: 0.12345678901234568 },
  ],
  ['{"a":1e999,"b":"12345678901234567890"}', { a: '1e999', b: '12345678901234567890' }],
])('%s keeps every digit of a whole number', (text, value) => {
  expect(parseJsonLongNumbersAsText(text)).toEqual(value);
});
