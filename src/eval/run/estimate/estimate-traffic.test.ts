import { expect, it } from 'vitest';
import type { Trace } from '../../../kv/traffic/trace.ts';
import { breakEven, estimateTraffic, summariseTrace } from './estimate-traffic.ts';

const segments = { a: { id: 'a', tokens: 10 }, b: { id: 'b', tokens: 20 } };
/** Turns of ann, a second apart, with these memories and 5 tokens behind them. */
const trace = (idsOf: Trace['idsOf'], ...turns: readonly string[]): Trace => ({
  ...{ name: 't', headerTokens: 0, idsOf },
  turns: turns.map((ids, index) => ({
    ...{ atMs: 1000 * index, userId: 'ann', conversationId: `c${index}`, queryTokens: 5, answerTokens: 1 },
    segments: [...ids].map((id) => segments[id as 'a' | 'b']),
  })),
});
const bytes = (tokens: number): number => 100 * tokens;
const machine = {
  limits: { exactCuts: 1, slidingWindowTokens: null, leastTokens: 1 },
  ...{ memoryBytes: 1e6, diskBytes: 1e6, kvBytes: bytes, fileBytes: bytes },
};
/** A millisecond for each token, and for 1,000 bytes. */
const costs = {
  evaluate: { call: 0, token: 1, pair: 0 },
  import: { fixed: 0, each: 0.001 },
  export: { fixed: 0, each: 0 },
  read: { fixed: 7, each: 0.001 },
};

it('finds beginnings of prompts by prefix and memories by block, and takes their time', async () => {
  const estimates = await estimateTraffic(trace('text', 'a', 'ab', 'ba'), machine, costs);
  const of = (arm: string) => estimates.find((estimate) => estimate.arm === arm)!;
  expect(of('rag')).toMatchObject({ perTurn: { evaluated: 85 / 3, memory: 0, disk: 0 }, meanMs: 85 / 3, hitRate: 0 });
  // The second prompt begins as the first did, and the third does not.
  expect(of('rag-cached').perTurn).toEqual({ evaluated: (15 + 25 + 35) / 3, memory: 10 / 3, disk: 0 });
  const blocks = of('dki-blocks');
  expect(blocks.perTurn).toEqual({ evaluated: (15 + 25 + 5) / 3, memory: (10 + 30) / 3, disk: 0 });
  // Evaluated tokens, and copies of 10, 30 and 30 tokens.
  expect(blocks.meanMs).toBeCloseTo((16 + 28 + 8) / 3);
  expect([0, 50, 100].map((percent) => blocks.percentilesMs[percent])).toEqual([8, 16, 28]);
  expect(blocks).toMatchObject({ reuses: 'blocks', hitRate: 1 / 3, readBytes: 0 });
  expect(estimates.map(({ paysFromTurn }) => paysFromTurn)).toEqual([null, 2, 2, 2, null, 3, 2, null]);
});

it('reads from disk what memory has no space for', async () => {
  const estimates = await estimateTraffic(trace('text', 'a', 'b', 'a'), { ...machine, memoryBytes: 2100 }, costs);
  const blocks = estimates.find(({ arm }) => arm === 'dki-blocks')!;
  expect(blocks).toMatchObject({ perTurn: { memory: 0, disk: 10 / 3 }, readBytes: 1000 });
  expect(blocks.percentilesMs[0]).toBeCloseTo(5 + 1 + 7 + 1);
});

it('simulates no blocks where ids stand for prefixes', async () => {
  const estimates = await estimateTraffic(trace('prefix', 'a', 'ab'), machine, costs);
  expect(estimates.map(({ arm }) => arm)).toEqual(['rag', 'rag-cached', 'rag-cached + disk']);
  expect(estimates[1]!.perTurn.memory).toBe(5);
});

it('says from which length and which speed of the disk on KV pays', () => {
  // 0.9 ms a token are saved, and a tenth of a ms and 7 ms in all are for reading.
  expect(breakEven(machine, costs, 100)).toEqual({
    tokens: { memory: 1, disk: 9 },
    readBytesPerSecond: (100 * 100 * 1000) / 90,
  });
  const slow = { ...costs, import: { fixed: 0, each: 1 } };
  expect(breakEven(machine, slow, 100)).toEqual({ tokens: { memory: null, disk: null }, readBytesPerSecond: null });
});

it('summarises a trace', () => {
  expect(summariseTrace({ ...trace('text', 'a', 'ab', 'ba'), headerTokens: 2 }, 100)).toEqual({
    ...{ name: 't', idsOf: 'text', durationMs: 2000, meanPromptTokens: 91 / 3, repeatedShare: 1 - 2 / 5 },
    counts: { turns: 3, users: 1, conversations: 3, segments: 2, tokens: 91 },
    workingSetBytes: 3200,
  });
});
