import { expect, test } from 'vitest';
import { judgeLatency, noiseFloor, pairedLatency } from './paired-latency.ts';

const turns = (ratio: (turn: number) => number) =>
  Array.from({ length: 200 }, (_, turn) => ({ userId: `u${turn % 20}`, a: 10 * ratio(turn), b: 10 }));

test('half the time is −ln 2, whichever turn is the slow one', () => {
  const half = pairedLatency(
    turns(() => 0.5),
    1,
  );
  expect(half.delta).toBeCloseTo(-Math.log(2), 12);
  expect(half).toMatchObject({ n: 200, users: 20 });
  const evenOut = pairedLatency(
    turns((turn) => (Math.floor(turn / 20) % 2 === 0 ? 2 : 0.5)),
    1,
  );
  expect(evenOut.delta).toBeCloseTo(0, 12);
});

test('a difference inside the A/A floor is noise', () => {
  const twin = pairedLatency(
    turns((turn) => 1 + 0.2 * Math.sin(turn)),
    1,
  );
  const floor = noiseFloor(twin);
  expect(floor).toBeGreaterThan(0);
  expect(
    judgeLatency(
      pairedLatency(
        turns(() => Math.exp(-floor / 2)),
        1,
      ),
      floor,
    ),
  ).toBe('within A/A noise');
  expect(
    judgeLatency(
      pairedLatency(
        turns(() => 0.5),
        1,
      ),
      floor,
    ),
  ).toBe('faster');
  expect(
    judgeLatency(
      pairedLatency(
        turns(() => 2),
        1,
      ),
      floor,
    ),
  ).toBe('slower');
  expect(judgeLatency({ delta: 0.3, low: -0.1, high: 0.7, n: 9, users: 3 }, 0.01)).toBe('undecided');
});

test('a duration of 0 ms is refused, not averaged', () => {
  expect(() => pairedLatency([{ userId: 'u1', a: 0, b: 3 }], 1)).toThrow(/u1.*0 ms/);
});
