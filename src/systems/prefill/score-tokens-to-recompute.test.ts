import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFakeEngine } from '../../../test/fixtures/fake-engine/fake-engine.ts';
import { copyOf } from '../../../test/fixtures/moved-cells.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import { keyRowBytes, type SequenceState } from '../../engine/sequence-state.ts';
import { cutCells } from '../../kv/cut-cells.ts';
import { kvOperations } from '../../kv/kv-operations.ts';
import type { BlockContext } from './gather-blocks.ts';
import { scoreTokensToRecompute } from './score-tokens-to-recompute.ts';
import type { TokenScorer } from './select-tokens-to-recompute.ts';

const HEADER = 3;
const FIRST_BLOCK = 4;
/** Of header, first, second and third block. */
const ends = [3, 7, 11, 14];
const ids = [0, 40, 41, 50, 51, 52, 53, 60, 61, 62, 63, 70, 71, 72];

/** A footer of one token, a question of three, and what stands behind it. */
const behind = { suffix: [5, 80, 81, 82, 6, 7], question: { start: 1, end: 4 } };

let engine: Engine;
let session: EngineSession;
/** The cells of a full prefill. */
let text: SequenceState;
beforeAll(async () => {
  engine = openFakeEngine({ sessions: 2 });
  session = await engine.openSession('test');
  await session.evaluate(ids);
  text = await session.exportCells();
});
afterAll(() => engine[Symbol.asyncDispose]());

/** The full prefill with the first number of a cell's key moved in one layer. */
function planted(layer: number, moves: Readonly<Record<number, number>>): SequenceState {
  const state = copyOf(text);
  const keys = new Float32Array(state.keys[layer]!.buffer);
  const row = keyRowBytes(state.layout) / Float32Array.BYTES_PER_ELEMENT;
  for (const [cell, move] of Object.entries(moves)) keys[Number(cell) * row]! += move;
  return state;
}

async function measured(by: TokenScorer, state: SequenceState, { rest = behind, blocks = blocksOf(state) } = {}) {
  const context = { engine, session, kv: kvOperations } as unknown as BlockContext;
  return scoreTokensToRecompute(by, context, { state, header: cutCells(state, 0, HEADER), blocks, rest });
}

function blocksOf(state: SequenceState): SequenceState[] {
  return ends.slice(1).map((end, index) => cutCells(state, ends[index]!, end));
}

/** Over all layers. */
async function evaluated(): Promise<number> {
  const early = await engine.firstLayers(2);
  const asking = await engine.firstLayers(2, { queries: true });
  const meters = await Promise.all([engine, early, asking].map((one) => one.meter()));
  return meters.reduce((sum, { evaluated }) => sum + evaluated!, 0);
}

describe.each(['cacheblend-oracle', 'cacheblend'] as const)('%s', (by) => {
  it('scores a token by how far it was moved from the full prefill, and the others 0', async () => {
    const { scores } = await measured(by, planted(1, { 9: 0.5, 12: 2 }));
    expect(scores).toHaveLength(ids.length - HEADER);
    const moved = [...scores.entries()].filter(([, score]) => score !== 0);
    expect(moved.map(([place]) => place + HEADER)).toEqual([9, 12]);
    expect(moved[0]![1]).toBeCloseTo(0.25, 5);
    expect(moved[1]![1]).toBeCloseTo(4, 5);
  });

  it('evaluates the tokens after the first block, and counts them', async () => {
    const before = await evaluated();
    const { selector } = await measured(by, text);
    expect((await evaluated()) - before).toBe(ids.length - HEADER - FIRST_BLOCK);
    expect(selector).toMatchObject({ tokens: ids.length - HEADER - FIRST_BLOCK, layers: 2 });
    expect(selector!.model).toBe(by === 'cacheblend' ? 'first-layers' : 'whole');
    expect(selector!.ms).toBeGreaterThan(0);
  });
});

it('a deviation in only the first layer counts over all layers, but not in the second', async () => {
  const state = planted(0, { 10: 1 });
  expect((await measured('cacheblend-oracle', state)).scores[10 - HEADER]).toBeCloseTo(1, 5);
  expect([...(await measured('cacheblend', state)).scores].every((score) => score === 0)).toBe(true);
});

it("query evaluates what follows the memories up to the question's end, and ignores what stands behind it", async () => {
  const before = await evaluated();
  const { scores } = await measured('query', text);
  expect((await evaluated()) - before).toBe(4);
  const rest = { ...behind, suffix: [...behind.suffix.slice(0, 4), 93, 94] };
  expect((await measured('query', text, { rest })).scores).toEqual(scores);
});

describe('informative', () => {
  it('scores a token by how unlikely it is given the header and its own block, whatever is between them', async () => {
    const { scores, selector } = await measured('informative', text);
    expect([...scores.slice(0, FIRST_BLOCK)]).toEqual([0, 0, 0, 0]);
    await using other = await engine.openSession('other');
    for (const [start, end] of [ends.slice(1, 3), ends.slice(2, 4)] as [number, number][]) {
      await other.clear();
      const { logProbabilities } = await other.score(ids.slice(0, HEADER), ids.slice(start, end));
      expect([...scores.slice(start - HEADER, end - HEADER)]).toEqual(logProbabilities.map((nats) => -nats));
    }
    expect(selector).toMatchObject({ model: 'whole', tokens: 7, layers: 2 });
  });

  it('scores a block once while its cells are in memory, and counts what it evaluates', async () => {
    const blocks = blocksOf(text);
    const before = await evaluated();
    const first = await measured('informative', text, { blocks });
    expect((await evaluated()) - before).toBe(first.selector!.tokens);
    expect(await measured('informative', text, { blocks })).toEqual({ scores: first.scores, selector: null });
    expect((await evaluated()) - before).toBe(first.selector!.tokens);
  });

  it('scores long blocks in pieces, each token as if all were scored at once', async () => {
    const block = Array.from({ length: 40 }, (_, index) => 60 + ((index * 7) % 50));
    const long = [...ids.slice(0, HEADER + 2), ...block];
    await using other = await engine.openSession('long');
    await other.evaluate(long);
    const state = await other.exportCells();
    const blocks = [cutCells(state, HEADER, HEADER + 2), cutCells(state, HEADER + 2, long.length)];
    const { scores } = await measured('informative', state, { blocks });
    await other.clear();
    const { logProbabilities } = await other.score(long.slice(0, HEADER), long.slice(HEADER + 2));
    expect([...scores.slice(2)]).toEqual(logProbabilities.map((nats) => -nats));
  });
});
