import { afterAll, describe, expect, it } from 'vitest';
import { copyOf, keyDifference, movedCells, tensorBytes } from '../../../test/fixtures/moved-cells.ts';
import { lastExactCut } from '../engine-capabilities.ts';
import type { SequenceState } from '../sequence-state.ts';
import { llamaCpp } from './llama-cpp-adapter.ts';

const prompt = Array.from({ length: 260 }, (_, index) => ((index * 37 + index * index) % 2500) + 3);
const question = prompt.slice(-20);
const answer = [5, 6, 7, 8];

/** Models whose saved state holds more than cells, or not all cells. */
describe.each(['tiny-gemma3-window-32', 'tiny-lfm2'])('%s', async (shape) => {
  const engine = await llamaCpp.opener({}).open({ model: `random:${shape}`, sessions: 2, contextTokens: 512 });
  const { capabilities } = engine;
  afterAll(() => engine[Symbol.asyncDispose]());

  it.each([20, 100, 227])(
    'goes on from a restored state of about %d tokens bit by bit, as often as asked',
    async (about) => {
      await using session = await engine.openSession('one');
      await using other = await engine.openSession('other');
      const prefix = prompt.slice(0, lastExactCut(capabilities, about));
      expect(prefix.length).toBeGreaterThan(about - 64);
      await session.evaluate(prefix);
      const checkpoint = await session.checkpoint();
      const evaluated = await session.score(question, answer);
      await other.evaluate(prompt.slice(7, 90));
      for (const restored of [session, other]) {
        await restored.restore(checkpoint);
        for (const _ of [1, 2]) {
          expect(restored.tokens).toEqual(prefix);
          const before = await restored.meter();
          expect(await restored.score(question, answer)).toEqual(evaluated);
          await restored.truncate(prefix.length);
          const { evaluated: tokens } = await restored.meter();
          expect(tokens! - before.evaluated!).toBe(question.length + answer.length - 1);
        }
      }
      await engine.deleteCheckpoint(checkpoint);
    },
  );

  it('evaluates kept tokens again where their state is gone, never that of other tokens', async () => {
    await using session = await engine.openSession('one');
    await session.evaluate(prompt.slice(100, 220));
    const checkpoint = await session.checkpoint();
    await session.clear();
    await session.score(prompt.slice(0, 30), answer);
    await session.restore(checkpoint);
    await session.truncate(90);
    expect((await session.meter()).evaluated).toBe(120 + 30 + 3 + 90);
    const truncated = await session.score(question, answer);
    await session.clear();
    await session.evaluate(prompt.slice(100, 190));
    expect(truncated).toEqual(await session.score(question, answer));
  });

  it('refuses a saved state whose bytes changed, that of other tokens, and of another window', async () => {
    await using session = await engine.openSession('one');
    await session.evaluate(prompt.slice(0, 50));
    const checkpoint = await session.checkpoint();
    const refused = { code: 'bad-state' };
    const tokens = [...checkpoint.tokens.slice(0, -1), 9];
    await expect(session.restore({ ...checkpoint, tokens })).rejects.toMatchObject(refused);
    const sha256 = '0'.repeat(64);
    await expect(session.restore({ ...checkpoint, sha256 })).rejects.toMatchObject(refused);
    await using wider = await llamaCpp.opener({}).open({ model: `random:${shape}`, sessions: 2, contextTokens: 768 });
    await using elsewhere = await wider.openSession('wider');
    await expect(elsewhere.restore(checkpoint)).rejects.toMatchObject(refused);
    await session.restore(checkpoint);
    expect(session.tokens).toEqual(prompt.slice(0, 50));
  });
});

describe('tiny-gemma3 in a window that no session exceeds', async () => {
  const engine = await llamaCpp.opener({}).open({ model: 'random:tiny-gemma3', sessions: 2, contextTokens: 512 });
  afterAll(() => engine[Symbol.asyncDispose]());
  const { rotary, layout } = engine.capabilities.cells!;

  it('has the cells of all layers, each rotated by its own base', async () => {
    expect(rotary).toMatchObject({ base: 1_000_000, windowed: { layers: [0, 1, 2, 3, 4, 6], base: 10_000, scale: 1 } });
    await using session = await engine.openSession('one');
    await session.evaluate(prompt.slice(0, 120));
    using before = await session.exportCells({ start: 100, end: 120 });
    await session.erase({ start: 40, end: 100 });
    await session.evaluate(question);
    using after = await session.exportCells({ start: 40, end: 60 });
    const moved = movedCells(before, rotary, -60);
    for (let layer = 0; layer < layout.layers; layer++) {
      const one = (state: SequenceState) => copyOf(state, { keys: [state.keys[layer]!] });
      expect(keyDifference(one(after), one(moved), 1)).toBeLessThan(2 ** -10);
      const other = movedCells(
        before,
        { ...rotary, windowed: { ...rotary.windowed!, layers: [1, 2, 3, 4, 5, 6] } },
        -60,
      );
      if (layer === 0 || layer === 5) expect(keyDifference(one(after), one(other), 1)).toBeGreaterThan(0.05);
    }
  });

  it('imports what it exported, cells in any number of sessions', async () => {
    await using session = await engine.openSession('one');
    await session.evaluate(prompt.slice(0, 200));
    const checkpoint = await session.checkpoint();
    using cells = await session.exportCells();
    const evaluated = await session.score(question, answer);
    await session.importCells(cells);
    expect(await session.score(question, answer)).toEqual(evaluated);
    await session.restore(checkpoint);
    expect(await session.score(question, answer)).toEqual(evaluated);
    await session.truncate(200);
    using again = await session.exportCells();
    expect(tensorBytes(again)).toEqual(tensorBytes(cells));
  });
});
