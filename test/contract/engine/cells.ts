import { expect, test } from 'vitest';
import {
  cellBytes,
  keyRowBytes,
  type KvLayout,
  numberBytes,
  type SequenceState,
  valueRowBytes,
} from '../../../src/engine/sequence-state.ts';
import { compareScores } from '../../../src/engine/sequence-score.ts';
import { concatenated, copyOf, keyDifference, movedCells, tensorBytes } from '../../fixtures/moved-cells.ts';
import type { Opened } from './opened.ts';
import { type Subject, WINDOW } from './subjects.ts';

export function cellPromises(subject: Subject, opened: Opened): void {
  test('cells come out in the order in which they came, in the layout that is promised', async () => {
    const { engine, session, memories, question } = opened;
    await session.evaluate(memories);
    await session.truncate(10);
    await session.evaluate(question);
    const state = await session.exportCells();
    const { layout } = engine.capabilities.cells!;
    const cells = 10 + question.length;
    expect(state.layout).toEqual(layout);
    expect([...state.positions]).toEqual(Array.from({ length: cells }, (_, cell) => cell));
    expect([...state.tokenIds]).toEqual([...memories.slice(0, 10), ...question]);
    expect(state.keys.map(({ length }) => length)).toEqual(Array(layout.layers).fill(cells * keyRowBytes(layout)));
    expect(state.values.map(({ length }) => length)).toEqual(Array(layout.layers).fill(cells * valueRowBytes(layout)));
    expect(cellBytes(layout)).toBe(
      layout.layers * layout.heads * layout.headDimension * 2 * numberBytes(layout.keyType),
    );
  });

  test('what came out goes in again bitwise, over whatever is there', async () => {
    const { engine, session, memories, question, answer } = opened;
    await session.evaluate(memories);
    const state = await session.exportCells();
    const whole = await session.score(question, answer);
    await using other = await engine.openSession('other');
    for (const into of [session, other, other]) {
      await into.importCells(state);
      expect([into.tokens, into.cells]).toEqual([memories, memories.length]);
      const { layout, positions, tokenIds, ...tensors } = await into.exportCells();
      expect(state).toMatchObject({ layout, positions, tokenIds });
      expect(tensorBytes(tensors).equals(tensorBytes(state))).toBe(true);
      expect(await into.score(question, answer)).toEqual(whole);
    }
  });

  test('a range has its cells alone', async () => {
    const { session, memories } = opened;
    await session.evaluate(memories);
    const whole = await session.exportCells();
    const cells = whole.positions.length;
    const starts = [0, 3, 11];
    const ranges = starts.map((start, index) => ({ start, end: starts[index + 1] ?? cells }));
    const parts = await Promise.all(ranges.map((range) => session.exportCells(range)));
    const joined = concatenated(...parts);
    expect(tensorBytes(joined).equals(tensorBytes(whole))).toBe(true);
    expect(joined.positions).toEqual(whole.positions);
    expect(parts.flatMap(({ tokenIds }) => [...tokenIds])).toEqual(memories);
    expect((await session.exportCells({ start: 4, end: 4 })).positions).toHaveLength(0);
    await expect(session.exportCells({ start: 4, end: cells + 1 })).rejects.toThrow(RangeError);
  });

  test('the first layer proves the tokens: its keys are those of the token, rotated to its position', async () => {
    const { engine, session, memories, question } = opened;
    const { rotary } = engine.capabilities.cells!;
    const tokens = memories.slice(0, 12);
    await session.evaluate(tokens);
    const near = await session.exportCells();
    await session.clear();
    await session.evaluate([...question.slice(0, 7), ...tokens]);
    const far = await session.exportCells({ start: 7, end: 19 });
    expect(keyDifference(movedCells(near, rotary, 7), far, 1)).toBeLessThan(subject.keyRounding);
    expect(keyDifference(near, far, 1)).toBeGreaterThan(0.1);
  });

  test('cells that are rotated to other positions answer alike; left unrotated, they do not', async () => {
    const { engine, session, memories, question, answer } = opened;
    const { rotary } = engine.capabilities.cells!;
    await session.evaluate(memories);
    const state = await session.exportCells();
    const whole = await session.score(question, answer);
    const difference = async (moved: SequenceState): Promise<number> => {
      await session.importCells(moved);
      return compareScores(whole, await session.score(question, answer)).largestDifference;
    };
    const rotated = await difference(movedCells(state, rotary, 40));
    expect(session.tokens.slice(0, 40)).toEqual(Array(40).fill(-1));
    const unrotated = await difference(copyOf(state, { positions: state.positions.map((position) => position + 40) }));
    expect(rotated).toBeLessThan(0.2);
    expect(unrotated).toBeGreaterThan(5 * rotated);
    expect(unrotated).toBeGreaterThan(0.05);
  });

  test('cells may share positions: the next token stands behind the last', async () => {
    const { session, memories, question, answer } = opened;
    await session.evaluate(memories);
    const header = await session.exportCells({ start: 0, end: 4 });
    const block = await session.exportCells({ start: 4, end: 12 });
    const other = copyOf(block, { tokenIds: block.tokenIds.toReversed() });
    await session.importCells(concatenated(header, block, other));
    expect(session.tokens).toEqual([...memories.slice(0, 4), ...Array<number>(8).fill(-1)]);
    expect(session.cells).toBe(20);
    await session.evaluate(question);
    expect(session.tokens.slice(12)).toEqual(question);
    expect(session.cells).toBe(20 + question.length);
    const out = await session.exportCells();
    expect([...out.tokenIds]).toEqual([...memories.slice(0, 12), ...memories.slice(4, 12).toReversed(), ...question]);
    expect([...out.positions.slice(12, 21)]).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
    await session.truncate(12);
    const scored = await session.score(question, answer);
    await session.importCells(concatenated(header, block));
    expect(compareScores(scored, await session.score(question, answer)).largestDifference).toBeGreaterThan(1e-4);
    await session.importCells(concatenated(header, block, other));
    await session.truncate(6);
    expect(session.cells).toBe(8);
  });

  test('positions may be left out: what is truncated ends behind a cell', async () => {
    const { session, memories, question } = opened;
    await session.evaluate(memories);
    const state = await session.exportCells({ start: 0, end: 6 });
    const gapped = copyOf(state, { positions: Int32Array.of(2, 3, 4, 20, 21, 22) });
    await session.importCells(gapped);
    expect([session.tokens.length, session.cells]).toEqual([23, 6]);
    // The first cell stays wherever it is.
    if (subject.capabilities.shift) await expect(session.erase({ start: 2, end: 4 })).rejects.toThrow(RangeError);
    await session.truncate(12);
    expect([session.tokens, session.cells]).toEqual([[-1, -1, ...memories.slice(0, 3)], 3]);
    await session.evaluate(question);
    expect(session.tokens.slice(5)).toEqual(question);
    await session.importCells(gapped);
    await session.truncate(1);
    expect([session.tokens, session.cells]).toEqual([[], 0]);
  });

  test('the token of a cell may be unknown', async () => {
    const { session, memories } = opened;
    await session.evaluate(memories);
    const state = await session.exportCells({ start: 0, end: 6 });
    const mixed = state.tokenIds.map((token, cell) => (cell === 3 ? -1 : token));
    await session.importCells(copyOf(state, { tokenIds: mixed }));
    expect(session.tokens).toEqual([...mixed]);
    expect((await session.exportCells()).tokenIds).toEqual(mixed);
  });

  test('no cells are an empty session', async () => {
    const { session, memories } = opened;
    const none = await session.exportCells();
    expect([none.positions.length, none.keys[0]!.length]).toEqual([0, 0]);
    await session.evaluate(memories);
    await session.importCells(none);
    expect([session.tokens, session.cells]).toEqual([[], 0]);
  });

  type Damage = (state: SequenceState) => SequenceState;
  const withNumber =
    (tensors: 'keys' | 'values', number: number): Damage =>
    (state) => {
      const copy = copyOf(state);
      const view = new DataView(copy[tensors].at(-1)!.buffer);
      const at = copy[tensors].at(-1)!.length - 4;
      if (state.layout.keyType === 'F32') view.setFloat32(at, number, true);
      else view.setUint16(at, Number.isNaN(number) ? 0x7e00 : number > 0 ? 0x7c00 : 0xfc00, true);
      return copy;
    };
  const inLayout =
    (change: (layout: KvLayout) => Partial<KvLayout>): Damage =>
    (state) =>
      copyOf(state, { layout: { ...state.layout, ...change(state.layout) } });
  const damages: [string, Damage][] = [
    ['a negative position', (state) => copyOf(state, { positions: state.positions.map((position) => position - 1) })],
    ['a key that is not a number', withNumber('keys', NaN)],
    ['an infinite key', withNumber('keys', Infinity)],
    ['a value that is not a number', withNumber('values', NaN)],
    ['an infinite value', withNumber('values', -Infinity)],
    ['another layout', inLayout(({ headDimension }) => ({ headDimension: headDimension / 2 }))],
    ['values in another order', inLayout(({ valuesTransposed }) => ({ valuesTransposed: !valuesTransposed }))],
    ['a layer too few', (state) => copyOf(state, { keys: state.keys.slice(1) })],
    ['values cut short', (state) => copyOf(state, { values: state.values.map((tensor) => tensor.slice(4)) })],
    ['a token too few', (state) => copyOf(state, { tokenIds: state.tokenIds.slice(1) })],
  ];
  test.each(damages)(
    '%s is refused; the session is as it was, or empty, and no later turn meets it',
    async (_, damage) => {
      const { session, memories, question, answer } = opened;
      const alone = await session.score(question, answer);
      await session.clear();
      await session.evaluate(memories);
      const state = await session.exportCells();
      const whole = await session.score(question, answer);
      await session.truncate(memories.length);
      await expect(session.importCells(damage(state))).rejects.toMatchObject({ code: 'bad-state' });
      expect([memories.length, 0]).toContain(session.cells);
      expect(session.tokens).toEqual(memories.slice(0, session.cells));
      await session.clear();
      // Its cells are other ones than the last, which held a number that is not finite.
      expect(await session.score(question, answer)).toEqual(alone);
      await session.importCells(state);
      expect(await session.score(question, answer)).toEqual(whole);
    },
  );

  test('cells and positions that do not fit are refused, and leave the session as it was', async () => {
    const { session, memories } = opened;
    await session.evaluate(memories);
    const state = await session.exportCells();
    const far = copyOf(state, { positions: state.positions.map((position) => position + WINDOW - memories.length) });
    const many = concatenated(...Array<SequenceState>(Math.ceil(WINDOW / memories.length)).fill(state));
    for (const tooLarge of [far, many]) {
      await expect(session.importCells(tooLarge)).rejects.toMatchObject({ code: 'context-overflow' });
      expect(session.tokens).toEqual(memories);
    }
    const last = copyOf(far, { positions: far.positions.map((position) => position - 1) });
    await session.importCells(last);
    expect(session.tokens).toHaveLength(WINDOW - 1);
  });
}
