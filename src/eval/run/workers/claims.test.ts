import { join } from 'node:path';
import { expect, test } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { readRunDatasets } from '../../../data/join-datasets.ts';
import { claimOrder } from './claims.ts';
import { drawTurnSample, type TurnSample } from '../prove/turn-prover.ts';
import { planUsers } from '../plan/plan-users.ts';

const file = join(import.meta.dirname, '../../../../datasets/recall-en.jsonl');
const arms = [handmadeTraits('rag'), handmadeTraits('dki')];
const { users } = (await readRunDatasets({ dataset: [file] })).parts[0]!;
const ordered = (asked: typeof users, sample: Pick<TurnSample, 'has'>) =>
  claimOrder(planUsers(asked, arms, { repeats: 1, controls: undefined }), { arms, repeats: 1, sample });

test('users with the most turns come first, and users of equal work in the order of the plan', () => {
  const asked = users.slice(0, 5).map((user, place) => ({ ...user, items: user.items.slice(0, place === 3 ? 5 : 2) }));
  const none = { has: () => false };
  expect(ordered(asked, none).map(({ position }) => position)).toEqual([3, 0, 1, 2, 4]);
});

test('a turn that is proven counts as two', () => {
  const asked = users.map((user) => ({ ...user, items: user.items.slice(0, 1) }));
  const sample = drawTurnSample(asked, arms, { seed: 7, repeats: 1 });
  const proven = ordered(asked, sample).map(({ user }) => sample.has(arms[0]!, user.items[0]!, 0));
  const count = proven.filter(Boolean).length;
  expect(count).toBe(6);
  expect(proven.slice(0, count)).not.toContain(false);
});
