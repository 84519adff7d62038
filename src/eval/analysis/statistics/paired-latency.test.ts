import { expect, test } from 'vitest';
import { judgeLatency, noiseFloor, pairedLatency } from './paired-latency.ts';

const turns = (ratio: (turn: number) => number) =>
  Array.from({ length: 200 }, (_, turn) => ({ userId: `u${turn % 20}`, a: 10 * ratio(turn), b: 10 }));

test('half the time is −ln 2, and the ratio of the means beside it', () => {
  const { delta, means } = pairedLatency(turns((turn) => 0.5 * (Math.floor(turn / 20) % 2 === 0 ? 4 : 0.25)));
  expect([delta, means.a / means.b, means.b]).toEqual(
    [-Math.log(2), 0.5, 10].map((one): unknown => expect.closeTo(one, 12)),
  );
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
