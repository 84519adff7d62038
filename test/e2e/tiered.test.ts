import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openDatabase } from '../../src/db/database.ts';
import { RunRepository } from '../../src/db/run-repository.ts';
import { TurnRepository } from '../../src/db/turn-repository.ts';
import { runBench } from '../../src/cli/compose.ts';
import type { AnsweredTurn } from '../../src/records/turn-record.ts';
import { failedChecks, smallConfig, TestFolder } from '../model/bench-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';

const flags = { retriever: 'tiered', arms: 'none,rag', run: 'tiered', limit: '8' };

function answeredTurns(folder: TestFolder): AnsweredTurn[] {
  using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
  const run = new RunRepository(database).findByName('tiered')!;
  return [...new TurnRepository(database).listByRun(run.id)].map((turn) =>
    turn.state === 'answered' ? turn : expect.fail(turn.error.message),
  );
}

it('runs without any server, records how each question was answered by the tiers, and passes its checks', async () => {
  using folder = new TestFolder();
  const eventsPort = await freePort();
  const heard: string[] = [];
  let client: WebSocket | undefined;
  const [results] = await runBench(smallConfig(folder, { ...flags, eventsPort: String(eventsPort) }), {
    onProgress: ({ phase }) => {
      if (phase !== 'turns' || client !== undefined) return;
      client = new WebSocket(`ws://127.0.0.1:${eventsPort}`);
      client.on('message', (data: Buffer) => heard.push((JSON.parse(data.toString()) as { type: string }).type));
    },
  });
  expect(failedChecks(results!)).toEqual([]);
  expect(results!.run.retriever).toMatchObject({
    name: 'tiered',
    tiers: { hot: 'in-process', cold: 'sqlite' },
    stats: { hot: { name: 'in-process' }, failures: 0 },
  });
  const { ignored, admitted } = (results!.run.retriever.stats as { wouldBeFiltered: Record<string, number> })
    .wouldBeFiltered;
  expect(results!.run.notes).toContain(
    `the ingress filter would have dropped ${ignored} of ${ignored! + admitted!} memories, ${ignored} of them for being short`,
  );
  const turns = answeredTurns(folder);
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
  expect(new Set(heard)).toEqual(new Set(['node_state_change']));
  expect(existsSync(folder.file('tiered/retriever'))).toBe(false);
}, 300_000);

it.each([
  [
    { hot: 'redis://me:secret@127.0.0.1:1' },
    'database',
    'redis://127.0.0.1:1: connecting failed: connect ECONNREFUSED',
  ],
  [
    { cold: 'postgres://me:secret@127.0.0.1:1/x' },
    'database',
    'postgres://127.0.0.1:1/x: opening long-term memory failed',
  ],
  [{ hot: 'secret' }, 'bad-option', '--hot: not a valid server URL'],
])('ends with one line where a store cannot be had: %j', async (stores, code, message) => {
  using folder = new TestFolder();
  const run = runBench(smallConfig(folder, { ...flags, ...stores }));
  await expect(run).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  await expect(run).rejects.not.toThrow('secret');
});
