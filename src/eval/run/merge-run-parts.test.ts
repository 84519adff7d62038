import { expect, it } from 'vitest';
import { storeRun } from '../../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../../store/database.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { mergeShards, type ShardFile } from './merge-run-parts.ts';

/** What a merged run stores of its machines. */
const environment = { engine: 'fake', build: {} };

const users = ['ann', 'bob', 'eve'].map((userId, position) => ({ userId, position, turns: position === 2 ? 0 : 1 }));

/** A finished shard of these users: `ann` and `bob` have one turn each, `eve` none. */
function shard(index: number, own: readonly string[], found: Partial<RunProbes> = {}): ShardFile {
  const database = openDatabase({ path: ':memory:' });
  const turns = own.flatMap((userId) =>
    userId === 'eve' ? [] : [{ itemId: `${userId}-q`, userId, arm: 'rag', right: true }],
  );
  const run = storeRun(database, { name: 'r', turns, settings: { shard: `${index}/3` }, environment });
  const claims = new UserClaimRepository(database, run.id);
  for (const user of users.filter(({ userId }) => own.includes(userId))) claims.claim(user, 'w');
  const arms = storeRun(openDatabase({ path: ':memory:' }), { name: 'r', turns: [turnOfAnn] }).plan.arms;
  const plan = { ...run.plan, arms, users: users.map(({ userId, turns: count }) => ({ userId, turns: count })) };
  const dataset = { ...run.dataset, items: 2 };
  return { file: String(index), database, run: { ...run, plan, dataset, probes: { ...run.probes!, ...found } } };
}

const turnOfAnn = { itemId: 'ann-q', userId: 'ann', arm: 'rag', right: true };

it('merges a shard without users, and users without turns, and each part only once', () => {
  using target = openDatabase({ path: ':memory:' });
  const shards = [shard(1, ['ann', 'eve']), shard(2, ['bob']), shard(3, [])] as const;
  const results = mergeShards(target, [...shards]);
  expect(results.arms.map(({ arm, n }) => `${arm} ${n}`)).toEqual(['rag 2']);
  expect(mergeShards(target, [...shards])).toEqual(results);
});

it.each([0, 1])('the worst of each finding of the self-tests counts, whichever shard has it', (place) => {
  using target = openDatabase({ path: ':memory:' });
  const right = { oneBlock: null, noise: { firstKeys: 0, deeper: 0 }, recomputed: 0, shift: 0, planted: 1 };
  const embedder = { sentences: 8, shared: [], lost: [], unsigned: false };
  const found = [
    { cells: { ...right, shift: 1 }, embedder: { ...embedder, unsigned: true } },
    { cells: right, embedder },
  ];
  const first = shard(1, ['ann', 'eve'], found[place]);
  mergeShards(target, [first, shard(2, ['bob'], found[1 - place]), shard(3, [], found[1])]);
  const { probes } = new RunRepository(target).findByName('r')!;
  expect(probes).toMatchObject({ cells: { shift: 1 }, embedder: { unsigned: true } });
});
