import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFakeEngine } from '../../../test/fixtures/fake-engine/fake-engine.ts';
import { copyOf } from '../../../test/fixtures/moved-cells.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import { keyRowBytes } from '../../engine/kv-layout.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { kvTools } from '../../kv/kv-tools.ts';
import type { BlockContext } from './gather-blocks.ts';
import { measureTokens } from './measure-tokens.ts';
import { type TokenMeasure, tokenMeasures } from './select-tokens.ts';

const HEADER = 3;
const FIRST_BLOCK = 4;
const ids = [0, 40, 41, 50, 51, 52, 53, 60, 61, 62, 63, 70, 71, 72];

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

async function measured(by: TokenMeasure, state: SequenceState): ReturnType<typeof measureTokens> {
  const context = { engine, session, kv: kvTools } as unknown as BlockContext;
  return measureTokens(by, context, { state, header: HEADER, firstBlock: FIRST_BLOCK });
}

describe.each(tokenMeasures)('%s', (by) => {
  it('scores a token by how far it was moved from the full prefill, and the others 0', async () => {
    const { scores } = await measured(by, planted(1, { 9: 0.5, 12: 2 }));
    expect(scores).toHaveLength(ids.length - HEADER);
    const moved = [...scores.entries()].filter(([, score]) => score !== 0);
    expect(moved.map(([place]) => place + HEADER)).toEqual([9, 12]);
    expect(moved[0]![1]).toBeCloseTo(0.25, 5);
    expect(moved[1]![1]).toBeCloseTo(4, 5);
  });

  it('evaluates the tokens behind the first block, and says so', async () => {
    const evaluated = async (): Promise<number> => {
      const early = await engine.firstLayers(2);
      return (await engine.meter()).evaluated! + (await early.meter()).evaluated!;
    };
    const before = await evaluated();
    const { selector } = await measured(by, text);
    expect((await evaluated()) - before).toBe(ids.length - HEADER - FIRST_BLOCK);
    expect(selector).toMatchObject({ tokens: ids.length - HEADER - FIRST_BLOCK, layers: 2 });
    expect(selector.model).toBe(by === 'cacheblend' ? 'first-layers' : 'whole');
    expect(selector.ms).toBeGreaterThan(0);
  });
});

it('what deviates in the first layer alone shows over all layers, and not in the second', async () => {
  const state = planted(0, { 10: 1 });
  expect((await measured('cacheblend-oracle', state)).scores[10 - HEADER]).toBeCloseTo(1, 5);
  expect([...(await measured('cacheblend', state)).scores].every((score) => score === 0)).toBe(true);
});
