import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cellFaults } from '../fixtures/cell-faults.ts';
import { evictionRules, quantisedTypes } from '../../src/store/records/prefill-record.ts';
import { realEngine } from '../fixtures/engines.ts';
import { ProvenTurns } from '../fixtures/proven-turn.ts';

const proven = { sameAgain: true, wrongCells: null };
const arms = [
  ...'dki dki@alpha=0.5 dki-blocks dki-link:3 dki-link:all dki-ranked:.5 dki-parallel dki-random:1'.split(' '),
  ...['cacheblend', 'cacheblend-oracle', 'informative', 'ranked-informative', 'query'].map((by) => `dki-${by}:.4`),
  ...evictionRules.flatMap((rule) => [`dki-evict-${rule}:.5`, `dki-blocks-evict-${rule}:.5`]),
  ...quantisedTypes.flatMap((type) => ['dki', 'dki-blocks', 'dki-evict-knorm:.5'].map((arm) => `${arm}@store=${type}`)),
];

// Pairs of neighbours, and of halves, are rotated; the second has norms of queries and keys.
describe.each(['random:tiny-llama', 'random:tiny-qwen3'])('on %s', (model) => {
  let turns: ProvenTurns;
  beforeAll(async () => {
    turns = await ProvenTurns.open(
      await realEngine.open({ model, sessions: 4, contextTokens: 1024, cellsPerPosition: 2 }),
    );
  });
  afterAll(() => turns[Symbol.asyncDispose]());

  it('a joined block is the text, and the engine shifts as plain arithmetic does', () => {
    expect(turns.selfTest).toMatchObject({ oneBlock: { bitwiseEqual: true }, noise: { firstKeys: 0, deeper: 0 } });
    const { planted, shift } = turns.selfTest as Exclude<typeof turns.selfTest, { readonly missing: string }>;
    expect(planted).toBeGreaterThan(0);
    expect(shift).toBeLessThan(2 ** -8);
  });

  it.each(arms)('the cells of %s are those of a fresh evaluation, on a miss and on a hit', async (name) => {
    expect(await turns.of(name)).toEqual([proven, proven]);
  });

  it.each(cellFaults)('$title are found in $arm', async ({ arm, fault, found }) => {
    const [, hit] = await turns.of(arm, fault);
    expect(hit!.wrongCells).toMatch(found);
  });
});
