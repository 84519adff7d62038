import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRunDatasets } from '../../../data/join-datasets.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import { drawUsers } from './plan-users.ts';

const root = join(import.meta.dirname, '../../../..');
const english = join(root, 'datasets/recall-en.jsonl');
const chinese = join(root, 'test/fixtures/hand-zh.jsonl');
const asked = await readRunDatasets({ dataset: [english] });
const all = asked.parts[0]!.users;

const idsOf = (users: ReturnType<typeof drawUsers>): string[] => users.map(({ userId }) => userId);

const draw = (asked: Parameters<typeof drawUsers>[0], limit: number | undefined, seed: number): DatasetUser[] =>
  drawUsers(asked, { seed, ...(limit === undefined ? {} : { limit }) });

test('draws whole users by seed, at least the ten that a verdict needs', () => {
  const fifty = draw(asked, 50, 7);
  expect(fifty.map(({ items }) => items.length)).toEqual(Array.from({ length: 10 }, () => 5));
  expect(idsOf(draw(asked, 20, 7))).toEqual(idsOf(fifty));
  expect(idsOf(draw(asked, 20, 1))).not.toEqual(idsOf(fifty));
  expect(draw(asked, 150, 7).length).toBeGreaterThan(10);
  expect(draw(asked, undefined, 7)).toEqual(all);
});

test.each([5, 10])(
  'of %i questions each user has two or more, and the first user repeats one set of memories',
  (limit) => {
    const drawn = draw(asked, limit, 7);
    expect(drawn).toHaveLength(limit / 2 - (limit % 2) / 2);
    expect(drawn.every(({ items }) => items.length >= 2)).toBe(true);
    expect(drawn.some(({ kind }) => kind === 'recurring')).toBe(true);
  },
);

test('several data sets contribute users alternately, each the same users that it contributes alone', async () => {
  const both = draw(await readRunDatasets({ dataset: [english, chinese] }), 20, 7);
  const given = both.map(({ languageProfile: { language }, items }) => `${items.length} in ${language}`);
  expect(given).toEqual(['2 in en', '2 in zh'].flatMap((one) => Array<string>(5).fill(one)));
  const alone = idsOf(draw(asked, 20, 7));
  expect(idsOf(both.slice(0, 5)).filter((id) => !alone.includes(id))).toEqual([]);
});

test('a data set that has no more users leaves the rest to the others', async () => {
  const both = await readRunDatasets({ dataset: [chinese, english] });
  const users = draw(both, 120, 7);
  expect(users.filter(({ languageProfile }) => languageProfile.language === 'zh')).toHaveLength(5);
  expect(users.length).toBeGreaterThan(10);
  expect(draw(both, undefined, 7)).toHaveLength(25);
});

test('divides a limit among as many users as are wanted', () => {
  const wide = drawUsers(asked, { limit: 2 * all.length, users: all.length, seed: 7 });
  expect(wide.map(({ items }) => items.length)).toEqual(all.map(() => 2));
  const three = drawUsers(asked, { users: 3, seed: 7 });
  expect(three).toHaveLength(3);
  expect(all).toEqual(expect.arrayContaining(three));
  expect(() => drawUsers(asked, { users: all.length + 1, seed: 7 })).toThrow(
    `--users ${all.length + 1}: ${all.length} users have questions`,
  );
});
