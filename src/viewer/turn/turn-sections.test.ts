import { expect, it } from 'vitest';
import { pairTokens } from './turn-sections.ts';

it('pairs the likeliest tokens of two arms, then those of the second alone', () => {
  const here = [
    { token: ' a', probability: 0.6 },
    { token: '\ufffd', probability: 0.2 },
    { token: '\ufffd', probability: 0.1 },
  ];
  const there = [
    { token: '\ufffd', probability: 0.5 },
    { token: ' b', probability: 0.3 },
    { token: ' a', probability: 0.1 },
  ];
  expect(pairTokens(here, there)).toEqual([
    { token: ' a', here: 0.6, there: 0.1 },
    { token: '\ufffd', here: 0.2, there: 0.5 },
    { token: '\ufffd', here: 0.1, there: undefined },
    { token: ' b', here: undefined, there: 0.3 },
  ]);
});
