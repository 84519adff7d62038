import { expect, test } from 'vitest';
import { storeRun } from '../../../test/fixtures/stored-runs.ts';
import { zeroMeter } from '../../engine/token-meter.ts';
import { openDatabase } from '../../store/database.ts';
import { noBooks } from '../../store/records/worker-result-bundle.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { PhaseTotals, runLevelResults } from './run-level-results.ts';

test('a resumed run keeps the counts and the times of interrupted processes', async () => {
  using database = openDatabase({ path: ':memory:' });
  const { id } = storeRun(database, { name: 'r', turns: [], status: 'interrupted' });
  const users = new UserClaimRepository(database, id);
  const stats = { texts: 0, cacheHits: 0, cachedTexts: 0, callMs: 0 };
  const clock = new PhaseTotals({ meter: () => Promise.resolve(zeroMeter) }, { stats: () => stats });
  /** A process finishes users one by one, with these totals, and saves after each but the last. */
  const resume = async (worker: string, totals: readonly number[]): Promise<void> => {
    const run = new RunRepository(database).findById(id)!;
    const results = runLevelResults(database, run, clock, { coldStartMs: 0, modelLoadMs: 0, started: 0 });
    for (const refused of totals) {
      await results.save({});
      const user = { userId: `${worker} ${refused}`, position: 0, turns: 1 };
      users.claim(user, worker);
      const counts = { refusedCalls: { dki: refused }, kvStores: { dki: { evicted: refused } }, retriever: {} };
      users.finish(user.userId, worker, { books: { ...noBooks, modelMs: 10 }, counts });
    }
  };
  await resume('first', [1, 3, 4]);
  await resume('second', [5, 7]);
  await resume('third', [0]);
  expect(new RunRepository(database).findById(id)!.probes).toMatchObject({
    refusedCalls: { dki: 11 },
    kvStores: { dki: { evicted: 11 } },
    profile: { modelMs: 51 },
  });
});
