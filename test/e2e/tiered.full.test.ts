import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { AnsweredTurn } from '../../src/store/records/turn-record.ts';
import { PostgresServer } from '../fixtures/postgres-server.ts';
import { hasRedisServer, RedisServer } from '../fixtures/redis-server.ts';
import { failedChecks, smallConfig, TestFolder } from '../model/bench-fixture.ts';
import { answeredTurns } from '../model/finished-run.ts';

const flags = { retriever: 'tiered', arms: 'none,rag', run: 'tiered', users: '10', limit: '16' };

const turnsIn = (folder: TestFolder) => answeredTurns(smallConfig(folder), 'tiered');

it('runs without any server, records how each question was answered by the tiers, and passes its checks', async () => {
  using folder = new TestFolder();
  const [results] = await runBench(smallConfig(folder, flags));
  expect(failedChecks(results!)).toEqual([]);
  expect(results!.run.retriever).toMatchObject({
    name: 'tiered',
    tiers: { hot: 'in-process', cold: 'sqlite' },
    stats: { hot: { name: 'in-process' }, failures: 0 },
  });
  const { wouldBeFiltered } = results!.run.retriever.stats as { wouldBeFiltered: Record<string, number> };
  const { ignored, admitted } = wouldBeFiltered;
  expect(results!.run.notes).toContain(
    `the ingress filter would have dropped ${ignored} of ${ignored! + admitted!} memories, ${ignored} of them for being short`,
  );
  const turns = turnsIn(folder);
  expect(turns.filter(({ arm }) => arm === 'none').every(({ given }) => given.retrieval === null)).toBe(true);
  for (const { arm, given, item, facts } of turns) {
    if (arm === 'none') continue;
    const { retrieval } = given;
    expect(retrieval).toMatchObject({ strategy: 'tiered', flags: [] });
    const { hot, coldChunks } = retrieval!.details as Record<string, number>;
    expect(hot).toBe(Math.min(10, item.memories));
    expect(coldChunks).toBe(Math.min(5, item.memories - hot!));
    expect(facts.keptMemories).toBe(hot! + coldChunks!);
    expect(retrieval!.timingsMs.embedding + retrieval!.timingsMs.search).toBeGreaterThan(0);
  }
  expect(existsSync(folder.file('tiered/retriever'))).toBe(false);
});

it.runIf(hasRedisServer())(
  'goes on after a server was killed in the middle, with the rows of a run without it',
  async () => {
    await using redis = await RedisServer.start();
    await using postgres = await PostgresServer.start();
    const servers = { hot: redis.url, cold: postgres.url };
    using folder = new TestFolder();
    using undisturbed = new TestFolder();
    const killed = runBench(smallConfig(folder, { ...flags, ...servers }), {
      onProgress: ({ phase, done }) => {
        if (phase === 'turns' && done === 10) void redis.kill();
      },
    });
    await expect(killed).rejects.toMatchObject({ code: 'database', message: expect.stringContaining(redis.url) });
    await redis.restart();
    const resume = { resume: 'tiered', retriever: 'tiered' };
    const elsewhere = smallConfig(folder, { ...resume, hot: redis.url });
    await expect(runBench(elsewhere)).rejects.toThrow('the place of memories is not the one that the run began with');
    const [results] = await runBench(smallConfig(folder, { ...resume, ...servers }));
    expect(failedChecks(results!)).toEqual([]);
    expect(results!.run.retriever.tiers).toEqual({
      hot: redis.url,
      cold: postgres.url.replace('postgres:secret@', ''),
    });
    await runBench(smallConfig(undisturbed, flags));
    const shape = (turns: readonly AnsweredTurn[]) =>
      turns.map(({ itemId, arm, answer, facts, given: { retrieval } }) => {
        // Questions that were asked while the server was gone say so.
        const failed = retrieval?.flags.some(({ flag }) => flag === 'failed') ?? false;
        return failed ? { itemId, arm, failed } : { itemId, arm, answer, memories: facts.memoryIds };
      });
    const disturbed = shape(turnsIn(folder));
    const expected = shape(turnsIn(undisturbed));
    const failed = disturbed.filter((turn) => 'failed' in turn);
    expect(disturbed.filter((turn) => !('failed' in turn))).toEqual(
      expected.filter(({ itemId, arm }) => !failed.some((turn) => turn.itemId === itemId && turn.arm === arm)),
    );
    expect(disturbed).toHaveLength(expected.length);
    const note =
      /^retrieval failed, and the question was asked without memories: \d+ of 20 questions; first reason: redis:/;
    expect(results!.run.notes.filter((line) => note.test(line))).toHaveLength(failed.length > 0 ? 1 : 0);
    // No trace of the run is left.
    expect([await redis.keys(), await postgres.schemas()]).toEqual([[], []]);
  },
);
