import { describe, expect, it } from 'vitest';
import { generateTraffic, trafficSchema } from '../../data/generators/traffic.ts';
import { openSimulatedArm, type SimulatedArmName, simulatedArmNames } from './simulated-arms.ts';
import { evaluatedTokens, type PromptShape, promptShapes, type SimulatedMachine } from './simulated-turn.ts';

/** A byte a token, and no disk. */
const machine: SimulatedMachine = {
  limits: { exactCuts: 8, slidingWindowTokens: null, leastTokens: 1 },
  memoryBytes: 1500,
  diskBytes: 0,
  kvBytes: (tokens) => tokens,
  fileBytes: (tokens) => tokens,
};

const span = (first: number, tokens: number) => ({
  tokens,
  tokenIds: Array.from({ length: tokens }, (_, index) => first + index),
});

/** A prompt of user `ann` with a header of 10 tokens, memories of 16 tokens by letter, and a query of 5. */
const prompt = (memories: string, query = 0): PromptShape => ({
  userId: 'ann',
  header: span(0, 10),
  segments: [...memories].map((id) => ({ id, ...span(1000 * id.codePointAt(0)!, 16) })),
  query: span(10 + 100 * query, 5),
});

async function play(name: SimulatedArmName, prompts: readonly PromptShape[], given: Partial<SimulatedMachine> = {}) {
  const arm = openSimulatedArm(name, { ...machine, ...given });
  const turns = [];
  for (const one of prompts) turns.push(await arm.answer(one));
  return { turns, evaluated: turns.map(evaluatedTokens), hits: turns.map(({ hit }) => hit), stats: arm.stats() };
}

it('finds what each arm would have in its caches', async () => {
  const prompts = [prompt('ab'), prompt('ab', 1), prompt('ba', 2), prompt('bc', 3)];
  // 47 tokens. A prefix cache finds the header alone, to the last exact cut, where the first memory is another.
  expect((await play('rag', prompts)).evaluated).toEqual([47, 47, 47, 47]);
  expect((await play('rag-cached', prompts)).evaluated).toEqual([47, 7, 39, 23]);
  // The prefix of 42 tokens is stored up to token 40.
  expect((await play('dki', prompts)).evaluated).toEqual([47, 7, 47, 47]);
  expect((await play('dki-blocks', prompts)).evaluated).toEqual([47, 5, 5, 21]);
  // A block behind another memory than before is computed again, with that memory in front of it.
  expect((await play('dki-blocks@context=previous', prompts)).evaluated).toEqual([63, 5, 53, 37]);
});

it('shows a memory that is in a prompt twice as often in a stable order', async () => {
  expect((await play('dki@order=stable', [prompt('aba')])).evaluated).toEqual([63]);
});

it('finds the rest of a prefix on disk, where each token was written once', async () => {
  // Memory for one prompt alone.
  const given = { memoryBytes: 50, diskBytes: 1000 };
  const prompts = [prompt('ab'), prompt('cd', 1), prompt('ab', 2)];
  expect((await play('rag-cached', prompts, given)).evaluated).toEqual([47, 39, 39]);
  const { turns, evaluated, stats } = await play('rag-cached + disk', prompts, given);
  expect(evaluated).toEqual([47, 39, 7]);
  // The header is still in memory.
  expect([turns[2]!.memory, turns[2]!.disk].map(({ tokens }) => tokens)).toEqual([10, 30]);
  // Three prompts of 47 tokens, without the header and memories that were there.
  expect(stats.disk).toMatchObject({ sizeBytes: 89, writtenBytes: 89, evicted: 0 });
  expect(stats.memory.sizeBytes).toBeLessThanOrEqual(50);
});

it('with stable order, puts memories that were retrieved more often first', async () => {
  const prompts = [prompt('ab'), prompt('ba', 1), prompt('cab', 2)];
  expect((await play('rag-cached@order=stable', prompts)).evaluated).toEqual([47, 7, 23]);
  expect((await play('dki@order=stable', prompts)).hits).toEqual([false, true, false]);
});

it('charges a block for the previous memory, and calls for the tokens that they attend to', async () => {
  const [first] = (await play('dki-blocks@context=previous', [prompt('ab')])).turns;
  expect(first!.evaluations).toEqual([
    { tokens: 10, behind: 0 },
    { tokens: 16, behind: 10 },
    { tokens: 32, behind: 10 },
    { tokens: 5, behind: 42 },
  ]);
});

it('evicts from memory to disk, and finds it there', async () => {
  // Memory for the header and two blocks, and as much again a half for rotated keys.
  const memoryBytes = 63;
  const prompts = ['a', 'b', 'c', 'a'].map((memories, query) => prompt(memories, query));
  const withoutDisk = await play('dki-blocks', prompts, { memoryBytes });
  const withDisk = await play('dki-blocks', prompts, { memoryBytes, diskBytes: 1000 });
  expect([withoutDisk.hits[3], withDisk.hits[3]]).toEqual([false, true]);
  expect(withDisk.turns[3]!.disk.tokens + withDisk.turns[3]!.memory.tokens).toBe(26);
  expect(withDisk.turns[3]!.disk.parts).toBeGreaterThan(0);
  expect(withDisk.stats.disk.writtenBytes).toBeGreaterThan(0);
  expect(withDisk.stats.memory.sizeBytes).toBeLessThanOrEqual(42);
});

describe.each(simulatedArmNames)('%s', (name) => {
  it('needs no token ids if memories begin differently', async () => {
    const given = {
      users: 3,
      memories: 12,
      retrieved: 4,
      memoryTokens: 9,
      turns: 200,
      headerTokens: 10,
      queryTokens: 5,
    };
    const named = [...promptShapes(generateTraffic(trafficSchema.parse(given)))];
    const numbers = new Map<string, number>();
    const number = (id: string): number => numbers.get(id) ?? numbers.set(id, numbers.size).get(id)!;
    const spelt = named.map((one, index): PromptShape => ({
      ...one,
      header: span(0, 10),
      segments: one.segments.map((segment) => ({
        ...segment,
        ...span(1e6 + 100 * number(segment.id), segment.tokens),
      })),
      query: span(1e7 + 10 * index, 5),
    }));
    const bounds = { memoryBytes: 400, diskBytes: 300 };
    const [byName, byTokens] = [await play(name, named, bounds), await play(name, spelt, bounds)];
    expect(byTokens).toEqual(byName);
  });
});
