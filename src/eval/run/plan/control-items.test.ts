import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import { armOrder } from '../turns/take-user-turns.ts';
import { drawControlItems, planUsers, rotationPlace, takesItem } from './plan-users.ts';

const rag = handmadeTraits('rag');
const twin = handmadeTraits('rag-twin', { control: 'twin' });
const wrong = handmadeTraits('dki-wrong', { control: 'negative', retrieves: 'donor' });
const none = handmadeTraits('none', { control: 'negative', retrieves: 'nothing' });
const arms = [none, rag, twin, wrong];

/** Users with so many items each, every tenth of category `rare`, the others `common`. */
function users(count: number, items: number): DatasetUser[] {
  return Array.from({ length: count }, (_, user) => ({
    userId: `u${user}`,
    items: Array.from({ length: items }, (__, item) => ({
      itemId: `u${user}-q${item}`,
      category: (user * items + item) % 10 === 0 ? 'rare' : 'common',
      evidence: ['m'],
    })),
  })) as unknown as DatasetUser[];
}

it.each([
  [6, 10, undefined],
  [8, 10, 60],
  [40, 10, 100],
])('of %i users with %i questions, controls answer %s (undefined: all)', (count, items, wanted) => {
  expect(drawControlItems(users(count, items), arms, 7)?.size).toBe(wanted);
});

it('draws the same items for a seed, others for another, and as many of each category as there are', () => {
  const all = users(40, 10);
  const drawn = drawControlItems(all, arms, 7)!;
  expect([...drawControlItems(all, arms, 7)!]).toEqual([...drawn]);
  expect([...drawControlItems(all, arms, 8)!]).not.toEqual([...drawn]);
  const rare = all.flatMap((user) => user.items).filter(({ category }) => category === 'rare');
  // 40 of 400 items are rare: all are among the 100.
  expect(rare.filter(({ itemId }) => drawn.has(itemId))).toHaveLength(40);
});

it('limits no arm where there is no such control, and where conversations span items', () => {
  expect(drawControlItems(users(40, 10), [none, rag], 7)).toBeUndefined();
  const talking = users(40, 10).map((user) => ({
    ...user,
    items: user.items.map((item) => ({ ...item, conversation: user.userId })),
  }));
  expect(drawControlItems(talking, arms, 7)).toBeUndefined();
});

it('limits twins and wrong memories, and neither the other arms nor the control without memories', () => {
  const all = users(40, 10);
  const controls = drawControlItems(all, arms, 7);
  const counts = arms.map(
    (arm) => all.flatMap(({ items }) => items.filter((item) => takesItem(arm, item, controls))).length,
  );
  expect(counts).toEqual([400, 400, 100, 100]);
  const planned = planUsers(all, arms, { repeats: 2, controls });
  expect(planned.reduce((sum, { turns }) => sum + turns, 0)).toBe(2 * 1000);
});

it('every arm stands equally often in each place, of the items that controls answer and of the others', () => {
  const all = users(16, 10);
  const controls = drawControlItems(all, arms, 7)!;
  const plan = { repeats: 1, controls };
  const orders = planUsers(all, arms, plan).flatMap((planned) =>
    planned.user.items.map((item: DatasetItem) => {
      const taking = arms.filter((arm) => takesItem(arm, item, controls));
      return armOrder(taking, 7, rotationPlace(planned, item, 0, plan)).map(({ name }) => name);
    }),
  );
  const counts = (length: number, name: string) =>
    Array.from(
      { length },
      (_, place) => orders.filter((order) => order.length === length && order[place] === name).length,
    );
  expect(arms.map(({ name }) => counts(4, name))).toEqual(arms.map(() => [15, 15, 15, 15]));
  expect([counts(2, 'none'), counts(2, 'rag')]).toEqual([
    [50, 50],
    [50, 50],
  ]);
});
