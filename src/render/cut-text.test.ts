import { expect, it } from 'vitest';
import { cutText, cutRemark } from './cut-text.ts';

it('cuts by characters, never through one, and counts what is left out', () => {
  expect(cutText('short', 5)).toEqual({ text: 'short', left: 0 });
  expect(cutText('a😀b😀c', 2)).toEqual({ text: 'a😀', left: 3 });
  expect(cutText('😀😀', 2)).toEqual({ text: '😀😀', left: 0 });
  expect(cutText('x'.repeat(1_000_000), 10).left).toBe(999_990);
  expect(cutRemark(999_990)).toBe('… 999,990 more characters, all in the raw JSON');
});
