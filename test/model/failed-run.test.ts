import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/compose.ts';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

const flags = { arms: 'none,rag', limit: '8', run: 'broken' };

function statusIn(folder: TestFolder): string | undefined {
  using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
  return new RunRepository(database).findByName('broken')?.status;
}

it('a run that ended in an error among its turns is failed, and can be gone on with', async () => {
  using folder = new TestFolder();
  const broken = runBench(smallConfig(folder, flags), {
    onProgress: ({ phase, done }) => {
      if (phase === 'turns' && done === 5) throw new Error('the display broke');
    },
  });
  await expect(broken).rejects.toThrow('the display broke');
  expect(statusIn(folder)).toBe('failed');
  const [results] = await runBench(smallConfig(folder, { resume: 'broken' }));
  expect(results!.arms.map(({ arm, n }) => [arm, n])).toEqual([
    ['none', 10],
    ['rag', 10],
  ]);
  expect(statusIn(folder)).toBe('finished');
});

it('a run that ended in an error before its first turn is failed', async () => {
  using folder = new TestFolder();
  const run = runBench(smallConfig(folder, { ...flags, retriever: 'tiered', hot: 'redis://127.0.0.1:9' }));
  await expect(run).rejects.toMatchObject({ code: 'database' });
  expect(statusIn(folder)).toBe('failed');
});

it('a resumed user finds no KV of the process that was interrupted, in a shared store either', async () => {
  using folder = new TestFolder();
  const caches = async (run: string, kvStore: string, isBroken: boolean): Promise<unknown[]> => {
    const config = smallConfig(folder, { arms: 'rag,rag-cached,dki', limit: '8', run, kvStore: folder.file(kvStore) });
    const breaking = runBench(config, {
      onProgress: ({ phase, done }) => {
        if (isBroken && phase === 'turns' && done === 8) throw new Error('the display broke');
      },
    });
    if (isBroken) {
      await expect(breaking).rejects.toThrow('the display broke');
      await runBench(smallConfig(folder, { resume: run, kvStore: folder.file(kvStore) }));
    } else await breaking;
    using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
    const { id } = new RunRepository(database).findByName(run)!;
    return [...new TurnRepository(database).listByRun(id)].map((turn) => {
      if (turn.state !== 'answered') throw new Error('a turn failed');
      return [turn.arm, turn.itemId, turn.account.cache, turn.tokens.evaluated];
    });
  };
  expect(await caches('broken', 'first', true)).toEqual(await caches('whole', 'second', false));
});
