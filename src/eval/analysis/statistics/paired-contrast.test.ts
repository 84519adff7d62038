import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { detectableContrast, pairedContrast } from './paired-contrast.ts';
import type { Pair } from './observations.ts';

/** Pairs by user: `+` only the first arm is right, `-` only the second, `.` both. */
const pairs = (...users: readonly string[]): Pair[] =>
  users.flatMap((marks, user) =>
    [...marks].map((mark) => ({ userId: `u${user}`, a: mark === '-' ? 0 : 1, b: mark === '+' ? 0 : 1 })),
  );

const plain = Array.from({ length: 12 }, () => '...');

describe('the contrast of two paired differences', () => {
  it('subtracts the second difference from the first', () => {
    const found = pairedContrast([pairs('+..', '++.', '...', '-..'), pairs('-..', '--.', '...', '.+.')], '%', 7);
    expect(found.delta).toBeCloseTo(2 / 12 - -2 / 12, 12);
    expect(found).toMatchObject({ n: 24, users: 4 });
  });

  it('is no point where nothing differs, as a saturated model has it', () => {
    const found = pairedContrast([pairs(...plain), pairs(...plain)], '%', 7);
    expect(found).toMatchObject({ delta: 0, p: 1, detectable: null });
    expect(found.interval.low).toBeLessThan(-0.1);
    expect(found.interval.high).toBeGreaterThan(0.1);
  });

  it('finds no contrast where both kinds of item lose alike, by users with unequal numbers of them', () => {
    const losing = (count: number): string => '-'.repeat(count);
    const first = pairs(...Array.from({ length: 14 }, (_, user) => losing(1 + (user % 3))));
    const second = pairs(...Array.from({ length: 14 }, (_, user) => losing(3 - (user % 3))));
    expect(pairedContrast([first, second], '%', 7)).toMatchObject({ delta: 0, p: 1 });
  });

  it('is wider where the same users gain on one kind and lose on the other', () => {
    const half = (mark: string, other: string) => Array.from({ length: 12 }, (_, user) => (user % 2 ? mark : other));
    const width = ([first, second]: readonly [string[], string[]]): number => {
      const { interval } = pairedContrast([pairs(...first), pairs(...second)], '%', 7);
      return interval.high - interval.low;
    };
    const opposed = width([half('++++', '----'), half('----', '++++')]);
    const together = width([half('++++', '----'), half('++++', '----')]);
    expect(opposed).toBeGreaterThan(1.2 * together);
  });

  it('has no test, but the interval of its questions, with one user', () => {
    const found = pairedContrast([pairs('++.-...'), pairs('--.....')], '%', 7);
    expect(found.p).toBe(1);
    expect(Number.isFinite(found.interval.low)).toBe(true);
  });

  it('covers the truth in about 95 % and finds nothing in 5 %, in a simulation of users who differ', () => {
    const random = new SeededRandom(3);
    const [samples, users] = [400, 30];
    const draw = (gain: number, loss: number): Pair[] =>
      Array.from({ length: users }, (_, user) => {
        const easy = random.float() < 0.3;
        return Array.from({ length: 3 }, () => {
          const mark = easy ? 1 : random.float();
          const [a, b] = mark < gain / 0.7 ? [1, 0] : mark < (gain + loss) / 0.7 ? [0, 1] : [1, 1];
          return { userId: `u${user}`, a, b };
        });
      }).flat();
    let [covered, rejected] = [0, 0];
    for (let sample = 0; sample < samples; sample++) {
      // Differences of 12 and −8 points: a true contrast of 20.
      const { low, high } = pairedContrast([draw(0.17, 0.05), draw(0.04, 0.12)], '%', 7).interval;
      if (low <= 0.2 && high >= 0.2) covered++;
      if (sample < samples / 4 && pairedContrast([draw(0.04, 0.12), draw(0.04, 0.12)], '%', 7).p < 0.05) rejected++;
    }
    expect(covered / samples).toBeGreaterThan(0.925);
    expect(covered / samples).toBeLessThan(0.99);
    expect(rejected / (samples / 4)).toBeLessThanOrEqual(0.1);
  });

  it('of unbounded values has the root of the summed squares as interval', () => {
    const values = (shift: number): Pair[] =>
      Array.from({ length: 20 }, (_, user) => ({ userId: `u${user}`, a: shift + Math.sin(7 * user), b: 0 }));
    const found = pairedContrast([values(1), values(0.25)], 'nats', 7);
    expect(found.delta).toBeCloseTo(0.75, 12);
    expect(found.interval.high - found.delta).toBeCloseTo(found.delta - found.interval.low, 9);
  });
});

it('what can be detected before a run: 2.8 standard errors of independent items', () => {
  expect(detectableContrast([180, 180], 0.3)).toBeCloseTo(2.8016 * Math.sqrt(0.3 / 180 + 0.3 / 180), 4);
  expect(detectableContrast([180, 0], 0.3)).toBeNull();
});
