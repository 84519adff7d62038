import { afterAll, expect, it } from 'vitest';
import { cellFaults } from '../fixtures/cell-faults.ts';
import { openFakeEngine } from '../fixtures/fake-engine/fake-engine.ts';
import { copyOf } from '../fixtures/moved-cells.ts';
import { ProvenTurns } from '../fixtures/proven-turn.ts';
import { replacing } from '../fixtures/replacing.ts';
import { twoFacedSession } from '../fixtures/two-faced-session.ts';

const turns = await ProvenTurns.open(openFakeEngine({ sessions: 3, cellsPerPosition: 2, kvType: 'F16' }));
afterAll(() => turns[Symbol.asyncDispose]());

const proven = { sameAgain: true, wrongCells: null };

const words = (text: string): string[] => text.trim().split(/\s+/);

const exact = words(`
  dki dki@alpha=0.5 dki-blocks dki-blocks@alpha=0.5 dki-parallel
`);
const recomputing = words(`
  dki-link:3 dki-link:all dki-link:3@alpha=0.5 dki-random:.5 dki-random:0 dki-ranked:1 dki-ranked:.5
  dki-cacheblend-oracle:.4 dki-cacheblend-oracle:.4@alpha=0.5 dki-cacheblend-oracle:1 dki-cacheblend:.4
  dki-cacheblend:.4@alpha=0.5 dki-informative:.4 dki-query:.4 dki-query:.4@alpha=0.5 dki-query:1
  dki-random:.5@run=2 dki-cacheblend:.4@run=3 dki-query:.4@run=2@alpha=0.5 dki-ranked-informative:.5@run=2
`);
const making = words(`
  dki-blocks@context=none dki-blocks@context=none@alpha=0.5 dki-blocks@context=previous
  dki-blocks@positions=parallel dki-parallel@temperature=0.9 dki-parallel@temperature=0.5@alpha=0.5
  dki-parallel@context=none@temperature=1.5 dki-parallel@context=previous dki-link:3@context=previous
  dki-blocks@sink=1 dki-blocks@sink=4:kept dki-blocks@context=none@sink=4 dki-blocks@context=none@sink=1:kept
  dki-blocks@sink=4:kept@alpha=0.5 dki-blocks@context=previous@sink=2 dki-parallel@sink=3:kept@temperature=0.9
  dki-blocks@context=previous@sink=2:kept dki-blocks@built=ahead@sink=2:kept dki-random:1@context=previous
  dki-cacheblend:.4@context=previous dki-query:.4@context=previous
`);

const evicting = ['random', 'streaming', 'knorm', 'keydiff', 'lagkv', 'snapkv'].flatMap((by) => [
  ...[`dki-evict-${by}:.5`, `dki-blocks-evict-${by}:.5`],
  ...[`dki-blocks-evict-${by}:.5@repair=1`, `dki-blocks-evict-${by}:.5@repair=2:random`],
  ...[`dki-evict-${by}:.75@alpha=0.5`, `dki-blocks-evict-${by}:.25@alpha=0.5`, `dki-blocks-evict-${by}:0`],
]);

const quantised = words(`
  dki dki-blocks dki-blocks@alpha=0.5 dki-blocks@context=previous dki-parallel dki-link:3 dki-query:.4
  dki-cacheblend-oracle:.4 dki-evict-keydiff:.5 dki-blocks-evict-knorm:.5
  dki-evict-snapkv:.5 dki-blocks-evict-snapkv:.5@repair=1 dki-resident dki-blocks@sink=2
  dki-blocks@sink=2:kept dki-blocks@context=none@sink=2
`).flatMap((arm) => ['q8_0', 'q4_0'].map((type) => `${arm}@store=${type}`));

it.each([...exact, ...recomputing, ...making, ...evicting, ...quantised, 'dki@store=f16'])(
  'the cells of %s are those of a fresh evaluation, on a miss and on a hit, and give the answer again',
  async (name) => {
    expect(await turns.of(name)).toEqual([proven, proven]);
  },
);

it.each(cellFaults)('$title are found in $arm', async ({ arm, fault, found }) => {
  const [miss, hit] = await turns.of(arm, fault);
  expect(hit!.wrongCells).toMatch(found);
  // A store lies about what it was given before.
  if (fault.kv?.openBlocks === undefined) expect(miss!.wrongCells).toMatch(found);
});

it('an answer from other KV than the turn leaves behind does not come out again', async () => {
  const [miss, hit] = await turns.of('dki', { session: twoFacedSession });
  expect([miss!.wrongCells, hit!.wrongCells]).toEqual([null, null]);
  expect(hit!.sameAgain).toBe(false);
});

it('a self-test says by how much a planted shift exceeds rounding, and what an engine rotates otherwise', async () => {
  expect(turns.selfTest).toMatchObject({ oneBlock: { bitwiseEqual: true }, noise: { firstKeys: 0, deeper: 0 } });
  const { planted, shift } = turns.selfTest as Exclude<typeof turns.selfTest, { readonly missing: string }>;
  expect(planted).toBeGreaterThan(0.01);
  expect(shift).toBeLessThan(2 ** -9);

  const engine = openFakeEngine({ sessions: 3 });
  const cells = engine.capabilities.cells!;
  const rotary = { ...cells.rotary, base: 9000 };
  await using wrong = await ProvenTurns.open(
    replacing(engine, { capabilities: { ...engine.capabilities, cells: { ...cells, rotary } } }),
  );
  expect((wrong.selfTest as { readonly shift: number }).shift).toBeGreaterThan(2 ** -7);

  const other = openFakeEngine({ sessions: 3 });
  const misplacing = replacing(other, {
    openSession: async (...asked) => {
      const session = await other.openSession(...asked);
      let erased = 0;
      return replacing(session, {
        erase: async (range) => {
          erased = range.end - range.start;
          await session.erase(range);
        },
        exportCells: async (range) => {
          const state = await session.exportCells(range);
          return copyOf(state, { positions: state.positions.map((position) => position + erased) });
        },
      });
    },
  });
  await using misplaced = await ProvenTurns.open(misplacing);
  // As it is stored.
  const stored = JSON.parse(JSON.stringify(misplaced.selfTest)) as { readonly shift: number | null };
  expect(stored.shift).toBeGreaterThan(2 ** -7);
});

it('an engine without cells says why nothing is proven', async () => {
  await using without = await ProvenTurns.open(openFakeEngine({ sessions: 3, cells: false }));
  expect(without.selfTest).toEqual({ missing: expect.any(String) as string });
  expect(await without.of('dki')).toEqual([{ sameAgain: true }, { sameAgain: true }]);
});
