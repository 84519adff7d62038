import { expect, test } from 'vitest';
import { judgeLatency, noiseFloor, pairedLatency } from './paired-latency.ts';

const turns = (ratio: (turn: number) => number) =>
  Array.from({ length: 200 }, (_, turn) => ({ userId: `u${turn % 20}`, a: 10 * ratio(turn), b: 10 }));

test('half the time is −ln 2, whichever turn is the slow one, and the ratio of the means beside it', () => {
  expect(pairedLatency(turns(() => 0.5)).delta).toBeCloseTo(-Math.log(2), 12);
  const evenOut = pairedLatency(turns((turn) => (Math.floor(turn / 20) % 2 === 0 ? 2 : 0.5)));
  expect(evenOut.delta).toBeCloseTo(0, 12);
  const some = pairedLatency(turns((turn) => 1 + (turn % 7)));
  expect(some.means.a / some.means.b).toBeCloseTo(Math.exp(some.delta), 12);
  expect(some.means.b).toBeCloseTo(10, 12);
});

test('a difference inside the A/A floor is noise, and any other needs the test', () => {
  const floor = noiseFloor({ low: -0.1, high: 0.06 });
  expect(floor).toBe(0.1);
  const judged = (delta: number, pAdjusted: number, users = 20) => judgeLatency({ delta, users, pAdjusted, floor });
  expect(judged(-0.09, 0.001)).toBe('within A/A noise');
  expect(judged(-0.5, 0.01)).toBe('faster');
  expect(judged(0.5, 0.01)).toBe('slower');
  expect(judged(0.5, 0.06)).toBe('undecided');
  expect(judged(-0.5, 0.01, 9)).toBe('too few users');
  expect(judgeLatency({ delta: -0.5, users: 20, pAdjusted: 0.01, floor: undefined })).toBe('not judged');
  expect(judgeLatency({ delta: -0.5, users: 20, pAdjusted: 0.01, floor: Infinity })).toBe('undecided');
});

test('a duration of 0 ms is refused, not averaged', () => {
  expect(() => pairedLatency([{ userId: 'u1', a: 0, b: 3 }])).toThrow(/u1.*0 ms/);
});
