import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../../../test/fixtures/folder-of-each-test.ts';
import { fakeConfig, smallDataset } from '../../../test/fixtures/small-run.ts';
import { BenchError, catchBenchError } from '../../base/bench-error.ts';
import { runSuites } from '../../eval/run-suites.ts';
import type { Trace } from '../../kv/traffic/trace.ts';
import { openDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { readTrace } from './read-trace.ts';

const folder = folderOfEachTest();

function readLines(...lines: readonly object[]): Promise<Trace> {
  writeFileSync(folder.file('t.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
  return readTrace(folder.file('t.jsonl'));
}

async function refusal(...lines: readonly object[]): Promise<string> {
  const refused = await catchBenchError(readLines(...lines));
  return refused instanceof BenchError ? refused.message.replaceAll(`${folder.path}/`, '') : 'read';
}

describe("the bench's own form", () => {
  const m1 = { id: 'm1', tokens: 30 };

  it('sorts turns by time, and recognises a memory that comes back', async () => {
    const trace = await readLines(
      { type: 'trace', name: 'mine', headerTokens: 12 },
      { time: '2026-03-01T09:00:05Z', user: 'ann', conversation: 7, memories: [m1], queryTokens: 9, answerTokens: 4 },
      { time: '2026-03-01T10:00:00+01:00', user: 'bob', memories: [{ id: 'm1', tokens: 8 }] },
      { time: '2026-03-01T09:00:06Z', user: 'ann', conversation: 7, memories: [{ id: 2, tokens: 5 }, m1] },
    );
    expect(trace).toMatchObject({ name: 'mine', headerTokens: 12, idsOf: 'text' });
    expect(trace.turns).toEqual([
      {
        atMs: 0,
        userId: 'bob',
        conversationId: 'turn 2',
        segments: [{ id: 'm1', tokens: 8 }],
        queryTokens: 0,
        answerTokens: 0,
      },
      { atMs: 5000, userId: 'ann', conversationId: 'ann 7', segments: [m1], queryTokens: 9, answerTokens: 4 },
      {
        atMs: 6000,
        userId: 'ann',
        conversationId: 'ann 7',
        segments: [{ id: '2', tokens: 5 }, m1],
        queryTokens: 0,
        answerTokens: 0,
      },
    ]);
    expect(trace.turns[2]!.segments[1]).toBe(trace.turns[1]!.segments[0]);
  });

  it('refuses by file and line', async () => {
    const turn = { time: 0, user: 'ann', memories: [m1] };
    expect(await refusal(turn, { ...turn, memories: [{ id: 'm1', tokens: 31 }] })).toBe(
      't.jsonl:2: memory "m1" has 31 tokens, but 30 in t.jsonl:1',
    );
    expect(await refusal(turn, { ...turn, time: '2026-03-01T09:00:00Z' })).toBe(
      't.jsonl:2: time is "2026-03-01T09:00:00Z", but the first turn has 0',
    );
    expect(await refusal(turn, { ...turn, time: 'noon' })).toMatch(/^t.jsonl:2: time expected a time such as/);
    expect(await refusal(turn, { ...turn, time: null })).toMatch(/^t.jsonl:2: time expected milliseconds, or a time/);
    expect(await refusal(turn, { ...turn, memory: [] })).toMatch(/^t.jsonl:2: memory is not a field/);
    expect(await refusal({ type: 'trace' })).toBe('t.jsonl: has no turns');
  });
});

describe("Mooncake's form", () => {
  const request = (
    timestamp: number,
    input_length: number,
    hash_ids: readonly number[],
    output_length = 10,
  ): object => ({
    ...{ timestamp, input_length, output_length, hash_ids },
  });

  it('derives conversations from prefixes that one request began and a longer one repeats', async () => {
    const trace = await readLines(
      request(1000, 1100, [0, 1, 2]),
      request(1500, 1300, [0, 1, 3]),
      // Long enough for the first prompt, but not for its answer too.
      request(2000, 1105, [0, 1, 4]),
      // Shares the first block only, which the first request did not end with.
      request(3000, 1030, [0, 5, 6]),
      request(4000, 1500, [0, 5, 7]),
    );
    expect(trace).toMatchObject({ idsOf: 'prefix', headerTokens: 0 });
    expect(trace.turns.map(({ atMs, conversationId }) => [atMs, conversationId])).toEqual([
      [0, '0'],
      [500, '0'],
      [1000, '1'],
      [2000, '2'],
      [3000, '2'],
    ]);
    expect(trace.turns[0]).toMatchObject({
      segments: [
        { id: '0', tokens: 512 },
        { id: '1', tokens: 512 },
        { id: '2', tokens: 76 },
      ],
      answerTokens: 10,
      queryTokens: 0,
    });
  });

  it('refuses blocks of another size', async () => {
    expect(await refusal(request(0, 64, [1, 2, 3, 4]))).toBe(
      't.jsonl:1: hash_ids has 4 hashes, but 64 tokens are 1 blocks of 512',
    );
  });
});

describe('a stored run', () => {
  it('is read by the tokens of its prompts', async () => {
    const db = folder.file('dki-bench.sqlite');
    writeFileSync(folder.file('small.jsonl'), smallDataset());
    const given = { dataset: folder.file('small.jsonl'), arms: 'dki', out: folder.path, run: 'mine', topK: 2 };
    await runSuites(fakeConfig(folder, given), () => fakeAdapter.opener({}));
    const trace = await readTrace(db, { run: 'mine', arm: 'dki' });

    using database = openDatabase({ path: db, readOnly: true });
    const { id } = new RunRepository(database).findByName('mine')!;
    const turns = [...new TurnRepository(database).listForResults(id, { arm: 'dki' })].flatMap((turn) =>
      turn.state === 'answered' ? [turn] : [],
    );
    expect(turns).toHaveLength(6);
    expect(trace.turns.map(({ userId }) => userId)).toEqual(turns.map(({ userId }) => userId));
    const sum = ({ segments, queryTokens }: Trace['turns'][number]): number =>
      segments.reduce((total, { tokens }) => total + tokens, trace.headerTokens + queryTokens);
    expect(trace.turns.map(sum)).toEqual(turns.map(({ facts }) => facts.tokens));
    expect(trace.turns.map(({ segments }) => segments.map((segment) => segment.id.slice(0, 6)))).toEqual(
      turns.map(({ facts }) => facts.memoryIds),
    );
    expect(trace.headerTokens).toBeGreaterThan(5);
    // Two memories in two orders have at most four labelled lines.
    const ofAnn = trace.turns.filter(({ userId }) => userId === 'ann').flatMap(({ segments }) => segments);
    expect(new Set(ofAnn).size).toBeLessThan(ofAnn.length);

    await expect(readTrace(db, { run: 'mein' })).rejects.toThrow('holds no run "mein": did you mean mine?');
    await expect(readTrace(db, { arm: 'full' })).rejects.toThrow('run "mine" has no answered turn of arm "full"');
    await expect(readTrace(folder.file('small.jsonl'), { arm: 'rag' })).rejects.toThrow('is no database of runs');
  });
});
