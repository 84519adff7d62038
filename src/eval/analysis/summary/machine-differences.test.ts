import { expect, test } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { turnOf } from '../../../../test/fixtures/stored-runs.ts';
import type { MachineKind } from '../../../store/records/run-description.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import { metricsOfRun } from '../metrics/metric-selection.ts';
import { machineDifferences, groupDifferenceP } from './machine-differences.ts';

const { primary } = metricsOfRun({ dataset: {} });
const arms = [handmadeTraits('rag'), handmadeTraits('dki'), handmadeTraits('none', { control: 'negative' })];
const users = Array.from({ length: 20 }, (_, index) => `u${index}`);
const kind = { platform: 'linux-x64', cores: 2, threads: 1, engine: 'e', build: {} };
const machines: readonly MachineKind[] = [
  { ...kind, cpu: 'old', users: users.slice(0, 10), turns: 30 },
  { ...kind, cpu: 'new', users: users.slice(10), turns: 30 },
];

/** A question a user; `wrongOnNew` are the users of the second machine whom dki answers wrongly, the first so many. */
function turns(wrongOnNew: number): AnsweredTurn[] {
  return users.flatMap((userId, index) =>
    arms.map(({ name: arm }) => {
      const right = arm !== 'dki' || index < 10 || index >= 10 + wrongOnNew;
      // The new machine is twice as fast, in every arm alike.
      const firstTokenMs = (arm === 'dki' ? 10 : 20) / (index < 10 ? 1 : 2);
      return turnOf({ itemId: `i-${userId}`, userId, arm, right, firstTokenMs }) as AnsweredTurn;
    }),
  );
}

test('tests each arm that is no control, and the ratio of first tokens, which a faster machine leaves as it is', () => {
  expect(machineDifferences(turns(0), machines, { arms, primary, seed: 7 })).toMatchObject([
    { arm: 'rag', metric: 'exactMatch', p: 1 },
    { arm: 'dki', metric: 'exactMatch', p: 1 },
    { arm: 'dki', metric: 'ttftLogRatioAll', p: 1, means: [Math.log(0.5), Math.log(0.5)] },
  ]);
});

test('finds a machine on which an arm answers otherwise', () => {
  const [rag, dki] = machineDifferences(turns(8), machines, { arms, primary, seed: 7 });
  expect(rag!.pAdjusted).toBe(1);
  expect(dki).toMatchObject({ arm: 'dki', metric: 'exactMatch', means: [1, 0.2] });
  // 2 · C(12, 2) of the C(20, 10) ways are as far: Fisher's exact test gives 0.0007.
  expect(dki!.p).toBeLessThan(0.003);
  expect(dki!.pAdjusted).toBeCloseTo(3 * dki!.p, 10);
});

test('tests nothing where all machines are of one kind', () => {
  expect(machineDifferences(turns(8), machines.slice(0, 1), { arms, primary, seed: 7 })).toEqual([]);
});

const draw = (values: readonly number[], from = 0) =>
  values.map((value, index) => ({ userId: `u${String(from + index).padStart(2, '0')}`, value }));

test('counts the exchanges that spread the means as far: 2 of the 20 ways to part six users', () => {
  const p = groupDifferenceP([draw([1, 2, 3]), draw([11, 12, 13], 3)], 7);
  expect(Math.abs(p! - 2 / 20)).toBeLessThan(0.01);
  expect(groupDifferenceP([draw([1, 2, 3]), draw([11, 12, 13], 3)], 7)).toBe(p);
});

test('is 1 where all are equal, and null where there is one group', () => {
  expect(groupDifferenceP([draw([1, 1, 1]), draw([1, 1], 3)], 7)).toBe(1);
  expect(groupDifferenceP([draw([1, 2, 3])], 7)).toBeNull();
  expect(groupDifferenceP([draw([1, 2, 3]), draw([])], 7)).toBeNull();
});

test('takes users as the units: a hundred observations of one are one', () => {
  const one = Array.from({ length: 100 }, () => ({ userId: 'a', value: 1 }));
  expect(groupDifferenceP([[...one, { userId: 'b', value: 0 }], draw([0, 1, 0, 1])], 7)).toBeGreaterThan(0.9);
});

test('finds the same share of differences where there are none as its level: 5 % of 400', () => {
  let found = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const value = (place: number): number => Math.sin(seed * 97.1 + place * 13.7) * 10_000;
    const values = Array.from({ length: 16 }, (_, place) => value(place) - Math.floor(value(place)));
    if (groupDifferenceP([draw(values.slice(0, 8)), draw(values.slice(8), 8)], seed)! < 0.05) found++;
  }
  expect(found).toBeGreaterThan(6);
  expect(found).toBeLessThan(36);
});
