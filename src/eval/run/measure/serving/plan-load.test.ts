import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAskedData } from '../../../../data/asked-data.ts';
import { CONVERSATION_TURNS, planLoad } from './plan-load.ts';

const { users } = (
  await readAskedData({ dataset: [join(import.meta.dirname, '../../../../../datasets/facts-en.jsonl')] })
).parts[0]!;
const questions = users.reduce((sum, { items }) => sum + items.length, 0);

test('plans as many turns as there are questions, in conversations of five, in the order of arrival', () => {
  const plan = planLoad(users, 0.5, 7);
  expect(plan).toHaveLength(questions);
  const sizes = new Map<number, number>();
  for (const { conversation } of plan) sizes.set(conversation, (sizes.get(conversation) ?? 0) + 1);
  expect(new Set(sizes.values())).toEqual(new Set([CONVERSATION_TURNS]));
  expect(plan.map(({ at }) => at)).toEqual(plan.map(({ at }) => at).sort((a, b) => a - b));
  expect(plan[0]!.at).toBe(0);
});

test('one seed gives one plan, another another', () => {
  const ids = (seed: number): string[] => planLoad(users, 0.5, seed).map(({ item }) => item.itemId);
  expect(ids(7)).toEqual(ids(7));
  expect(ids(8)).not.toEqual(ids(7));
});

test('turns arrive one a mean gap, at no fixed distance', () => {
  const plan = planLoad(users, 0.5, 7);
  const gaps = plan.slice(1).map(({ at }, place) => at - plan[place]!.at);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  // A standard error of 400 gaps of a Poisson process is .05; conversations of five make it some .11.
  expect(mean).toBeGreaterThan(0.7);
  expect(mean).toBeLessThan(1.3);
  expect(gaps.filter((gap) => gap > 2 * mean).length).toBeGreaterThan(10);
});

test.each([0, 0.5, 1])(
  'asks an earlier question of the conversation again in a share of %s of the later turns',
  (recurrence) => {
    const plan = planLoad(users, recurrence, 7);
    const asked = new Map<number, Set<string>>();
    let again = 0;
    for (const { conversation, item } of plan) {
      const before = asked.get(conversation) ?? new Set();
      if (before.has(item.itemId)) again++;
      asked.set(conversation, before.add(item.itemId));
    }
    const share = again / (plan.length - asked.size);
    expect(Math.abs(share - recurrence)).toBeLessThan(0.08);
  },
);
