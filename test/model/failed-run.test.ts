import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { BenchHooks, Progress } from '../../src/eval/run/bench-hooks.ts';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const flags = { arms: 'none,rag', users: '10', limit: '8', run: 'broken' };

/** Ends a run with an error after so many turns, or at the start of another phase. */
const breakingAt = (turns: number, ofPhase: Progress['phase'] = 'turns'): BenchHooks => ({
  onProgress: ({ phase, done }) => {
    if (phase === ofPhase && done === turns) throw new Error('the display broke');
  },
});

function statusIn(folder: TestFolder): string | undefined {
  using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
  return new RunRepository(database).findByName('broken')?.status;
}

it('a run that ended in an error among its turns is failed, and can be gone on with', async () => {
  using folder = new TestFolder();
  const broken = runBench(smallConfig(folder, flags), breakingAt(5));
  await expect(broken).rejects.toThrow('the display broke');
  expect(statusIn(folder)).toBe('failed');
  const [results] = await runBench(smallConfig(folder, { resume: 'broken' }));
  expect(results!.arms.map(({ arm, n }) => `${arm} ${n}`)).toEqual(['none 10', 'rag 10']);
  expect(statusIn(folder)).toBe('finished');
});

it('a run that ended in an error before its first turn is failed', async () => {
  using folder = new TestFolder();
  const broken = runBench(smallConfig(folder, flags), breakingAt(0, 'warm-up'));
  await expect(broken).rejects.toThrow('the display broke');
  expect(statusIn(folder)).toBe('failed');
});

it('a resumed user finds no KV of the process that was interrupted, in a shared store either', async () => {
  using folder = new TestFolder();
  const caches = async (run: 'broken' | 'whole', kvStore: string): Promise<unknown[]> => {
    const config = smallConfig(folder, {
      arms: 'rag,rag-cached,dki',
      users: '10',
      limit: '8',
      run,
      kvStore: folder.file(kvStore),
    });
    if (run === 'whole') await runBench(config);
    else {
      await expect(runBench(config, breakingAt(8))).rejects.toThrow('the display broke');
      await runBench(smallConfig(folder, { resume: run, kvStore: folder.file(kvStore) }));
    }
    const turns = answeredTurns(config, run);
    // The prefix cache is in memory: a user's first question finds the system text of whoever asked before in this process.
    const compared = turns.filter(({ arm, userId }, at) => {
      return arm !== 'rag-cached' || turns.findIndex((other) => other.arm === arm && other.userId === userId) !== at;
    });
    return compared.map(({ arm, itemId, account, tokens }) => [arm, itemId, account.cache, tokens.evaluated]);
  };
  expect(await caches('broken', 'first')).toEqual(await caches('whole', 'second'));
});
