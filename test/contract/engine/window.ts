import { expect, test } from 'vitest';
import { compareScores } from '../../../src/engine/sequence-score.ts';
import { concatenated, keyDifference, movedCells } from '../../fixtures/moved-cells.ts';
import { type Opened, openEngine } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

export function windowPromises(subject: Subject, opened: Opened): void {
  const shifting = test.runIf(subject.capabilities.shift);

  test('behind what is truncated, bits are what they would have been', async () => {
    const { engine, session, memories, answer } = opened;
    const [start, rest] = [memories.slice(0, 10), memories.slice(10)];
    const fresh = await session.score(memories, answer);
    await session.clear();
    await session.evaluate(start);
    await session.generate(filler(engine, 20), { maxTokens: 4 });
    await session.truncate(10);
    expect([session.tokens, session.cells]).toEqual([start, 10]);
    expect(await session.score(rest, answer)).toEqual(fresh);
  });

  test('nothing is truncated beyond the end', async () => {
    const { engine, session } = opened;
    await session.evaluate(filler(engine, 5));
    for (const length of [6, -1, 2.5]) await expect(session.truncate(length)).rejects.toThrow(RangeError);
    await session.truncate(5);
    expect(session.cells).toBe(5);
  });

  shifting('behind an erased range tokens move up, their keys rotated as RoPE does', async () => {
    const { engine, session, memories } = opened;
    const { rotary } = engine.capabilities.cells!;
    await session.evaluate(memories);
    const first = await session.exportCells({ start: 0, end: 3 });
    const rest = await session.exportCells({ start: 8, end: memories.length });
    const reading = await session.meter();
    await session.erase({ start: 3, end: 8 });
    expect(session.tokens).toEqual([...memories.slice(0, 3), ...memories.slice(8)]);
    expect(session.cells).toBe(memories.length - 5);
    const after = await session.exportCells();
    expect(Buffer.concat(after.values).equals(Buffer.concat(concatenated(first, rest).values))).toBe(true);
    expect([...after.positions]).toEqual(session.tokens.map((_, position) => position));
    const kept = await session.exportCells({ start: 0, end: 3 });
    const moved = await session.exportCells({ start: 3, end: memories.length - 5 });
    expect(Buffer.concat(kept.keys).equals(Buffer.concat(first.keys))).toBe(true);
    const expected = movedCells(rest, rotary, -5);
    expect(keyDifference(moved, expected)).toBeLessThan(subject.keyRounding);
    expect(keyDifference(moved, movedCells(expected, rotary, 1))).toBeGreaterThan(0.1);
    // Rotating evaluates nothing.
    expect(await session.meter()).toMatchObject({ evaluated: reading.evaluated, reused: reading.reused });
  });

  shifting('behind an erased range it goes on as behind the same cells imported', async () => {
    const { engine, session, memories, question, answer } = opened;
    await session.evaluate(memories);
    await session.erase({ start: 3, end: 8 });
    // New cells stand where others were erased, and come out behind those that were there before.
    await session.evaluate(question);
    const end = memories.length - 5;
    const cells = await session.exportCells({ start: 0, end });
    expect([...cells.positions]).toEqual(Array.from({ length: end }, (_, position) => position));
    await session.truncate(end);
    const scored = await session.score(question, answer);
    await using other = await engine.openSession('other');
    await other.importCells(cells);
    const { largestDifference } = compareScores(scored, await other.score(question, answer));
    // Not bit by bit: sums run over the cells as they lie.
    expect(largestDifference).toBeLessThan(0.02);
  });

  shifting('an erased end is truncated, an empty range is nothing, the first cell stays', async () => {
    const { session, memories } = opened;
    await session.evaluate(memories);
    await session.erase({ start: 4, end: 4 });
    expect(session.tokens).toEqual(memories);
    await session.erase({ start: 6, end: memories.length });
    expect(session.tokens).toEqual(memories.slice(0, 6));
    for (const range of [
      { start: 0, end: 2 },
      { start: 5, end: 7 },
      { start: 4, end: 3 },
      { start: -1, end: 3 },
    ]) {
      await expect(session.erase(range)).rejects.toThrow(RangeError);
    }
    expect(session.tokens).toEqual(memories.slice(0, 6));
    await session.erase({ start: 0, end: 6 });
    expect([session.tokens, session.cells]).toEqual([[], 0]);
  });

  test('a text that does not fit is refused before anything is evaluated, with both numbers', async () => {
    await using engine = await openEngine(subject, { contextTokens: 256 });
    await using session = await engine.openSession('contract');
    await session.evaluate(filler(engine, 232));
    const before = await session.meter();
    await expect(session.generate(filler(engine, 20), { maxTokens: 5 })).rejects.toMatchObject({
      code: 'context-overflow',
      message: '252 tokens and 5 more to come do not fit into a window of 256 tokens',
    });
    await expect(session.evaluate(filler(engine, 24))).rejects.toMatchObject({ code: 'context-overflow' });
    await expect(session.score(filler(engine, 20), filler(engine, 5))).rejects.toMatchObject({
      code: 'context-overflow',
    });
    expect(await session.meter()).toMatchObject({ evaluated: before.evaluated, reused: before.reused });
    expect(session.cells).toBe(232);
    // The last token of all is sampled, never evaluated.
    await session.evaluate(filler(engine, 23));
    expect(session.cells).toBe(255);
    await session.truncate(232);
    expect((await session.generate(filler(engine, 20), { maxTokens: 4 })).tokens.length).toBeLessThanOrEqual(4);
  });

  test('cells beyond positions are there where they were asked for', async () => {
    await using wide = await openEngine(subject, { contextTokens: 128, cellsPerPosition: 2 });
    expect([wide.info.contextTokens, wide.info.cellTokens]).toEqual([128, 256]);
    await using session = await wide.openSession('contract');
    await expect(session.evaluate(filler(wide, 128))).rejects.toMatchObject({ code: 'context-overflow' });
    await session.evaluate(filler(wide, 127));
    expect(session.cells).toBe(127);
  });
}
