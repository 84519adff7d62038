import { expect, test } from 'vitest';
import { repeatHeads } from '../../../src/kv/repeat-heads.ts';
import { tensorBytes } from '../../fixtures/moved-cells.ts';
import type { Opened } from './opened.ts';
import type { Subject } from './subjects.ts';

export function firstLayersPromises(subject: Subject, opened: Opened): void {
  test.each([1, 2])(
    'the first %i have the tokens of the model, and its KV in these layers bit by bit',
    async (layers) => {
      const { engine, session, memories, question } = opened;
      const first = await engine.firstLayers(layers);
      const text = [{ text: 'My sister Ann', as: 'text' }] as const;
      expect(await first.tokenize(text)).toEqual(await engine.tokenize(text));
      expect(first.capabilities.cells!.layout).toEqual({ ...engine.capabilities.cells!.layout, layers });
      await using early = await first.openSession('early');
      await session.evaluate(memories);
      await early.evaluate(memories);
      using whole = await session.exportCells();
      using part = await early.exportCells();
      const sameLayers = { keys: whole.keys.slice(0, layers), values: whole.values.slice(0, layers) };
      expect(tensorBytes(part).equals(tensorBytes(sameLayers))).toBe(true);
      // What was computed there goes in again, and is continued.
      await early.importCells(part);
      await early.evaluate(question);
      expect(early.tokens).toEqual([...memories, ...question]);
    },
  );

  test('with queries, have the KV below bit by bit, a head for each query head, and other keys in the last layer', async () => {
    const { engine, session, memories, question } = opened;
    const { layout } = engine.capabilities.cells!;
    const asking = await engine.firstLayers(2, { queries: true });
    expect(await engine.firstLayers(2, { queries: true })).toBe(asking);
    expect(asking).not.toBe(await engine.firstLayers(2));
    const { heads } = asking.capabilities.cells!.layout;
    expect(asking.capabilities.cells!.layout).toEqual({ ...layout, layers: 2, heads });
    await using early = await asking.openSession('early');
    await session.evaluate([...memories, ...question]);
    await early.evaluate([...memories, ...question]);
    using whole = repeatHeads(await session.exportCells(), heads);
    using own = await early.exportCells();
    const below = { keys: whole.keys.slice(0, 1), values: whole.values.slice(0, 2) };
    expect(tensorBytes({ keys: own.keys.slice(0, 1), values: own.values }).equals(tensorBytes(below))).toBe(true);
    expect(Buffer.from(own.keys[1]!).equals(whole.keys[1]!)).toBe(false);
    // Behind cells of the model the queries are those behind its text.
    if (engine.capabilities.exactCuts === null) return;
    await early.truncate(memories.length);
    await session.truncate(memories.length);
    using state = await session.exportCells();
    const first = { ...state, keys: state.keys.slice(0, 2), values: state.values.slice(0, 2) };
    await early.importCells(repeatHeads({ ...first, layout: { ...layout, layers: 2 } }, heads));
    await early.evaluate(question);
    using again = await early.exportCells();
    const rows = own.keys[1]!.length / own.positions.length;
    const behind = memories.length * rows;
    expect(Buffer.from(again.keys[1]!.subarray(behind)).equals(own.keys[1]!.subarray(behind))).toBe(true);
  });

  test('are one engine at each call, which counts for itself and has as many sessions', async () => {
    const { engine, question } = opened;
    const first = await engine.firstLayers(2);
    expect(await engine.firstLayers(2)).toBe(first);
    expect(first.capabilities.sessions).toBe(subject.capabilities.sessions);
    expect(first.info.contextTokens).toBe(engine.info.contextTokens);
    const [before, ofFirst] = [await engine.meter(), await first.meter()];
    await using early = await first.openSession('early');
    await early.evaluate(question);
    expect((await first.meter()).evaluated! - ofFirst.evaluated!).toBe(question.length);
    expect((await engine.meter()).evaluated).toBe(before.evaluated);
  });

  test('are at least one, and no more than there are', async () => {
    const { engine } = opened;
    for (const layers of [0, 1.5, engine.info.model.layers! + 1]) {
      await expect(engine.firstLayers(layers)).rejects.toThrow(RangeError);
    }
  });
}
