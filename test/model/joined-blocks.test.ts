import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { presetModels } from '../../src/models/preset-models.ts';
import { onOff } from '../../src/config/bench-config.ts';
import type { EngineRequest } from '../../src/engine/engine-request.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { numberTypes, type SequenceState } from '../../src/engine/sequence-state.ts';
import type { TokenId } from '../../src/engine/token-id.ts';
import { cutCells } from '../../src/kv/cut-cells.ts';
import { type BlockPlacement, contiguousPositions, joinBlocks, type JoinOptions } from '../../src/kv/join-blocks.ts';
import { copyOf, numbersOf } from '../fixtures/plain-states.ts';

// Values of a layer lie as [dimension][cell] without flash attention, as [cell][dimension] with it.
describe.each(onOff)('flash attention %s', (flashAttention) => {
  let engine: Engine;
  let session: EngineSession;
  let options: JoinOptions;
  let headerIds: readonly TokenId[];
  let lines: readonly (readonly TokenId[])[];
  let question: readonly TokenId[];
  let header: SequenceState;
  /** Each line, evaluated behind the header alone. */
  let blocks: readonly SequenceState[];

  function open(request: Partial<EngineRequest>): Promise<Engine> {
    const opener = llamaCpp.opener({ flashAttention });
    return opener.open({ model: presetModels.model, contextTokens: 512, ...request });
  }

  /** The cells of tokens that were evaluated from position 0 on. */
  async function evaluated(tokens: readonly TokenId[], by = session): Promise<SequenceState> {
    await by.clear();
    await by.evaluate(tokens);
    return by.exportCells();
  }

  beforeAll(async () => {
    engine = await open({ cellsPerPosition: 2 });
    session = await engine.openSession('test');
    options = { rotary: engine.capabilities.cells!.rotary };
    const texts = [
      'Relevant information:\n',
      '[1] My sister Ann lives in Leeds.\n',
      '[2] I like green tea.\n',
      '[3] My dog is called Brenko.\n',
      '\nUser: Where does Ann live?\n\nAI:',
    ];
    const ids = await engine.tokenize(texts.map((text) => ({ text, as: 'text' })));
    headerIds = [engine.info.bosToken ?? 0, ...ids[0]!];
    lines = ids.slice(1, 4);
    question = ids[4]!;
    const states = [];
    for (const line of lines) states.push(await evaluated([...headerIds, ...line]));
    header = cutCells(states[0]!, 0, headerIds.length);
    blocks = states.map((state) => cutCells(state, headerIds.length, state.positions.length));
  });
  beforeEach(() => session.clear());
  afterAll(() => engine[Symbol.asyncDispose]());

  function contiguous(alpha = 1, from = blocks): BlockPlacement[] {
    const positions = contiguousPositions(from, headerIds.length);
    return from.map((block, index) => ({ block, position: positions[index]!, alpha }));
  }

  describe('one memory behind its header', () => {
    test.each(numberTypes)('joined is the state of the prefix, byte by byte, in %s', async (kvType) => {
      await using other = await open({ kvType });
      await using own = await other.openSession('own');
      for (const line of lines) {
        using whole = await evaluated([...headerIds, ...line], own);
        const valuesTransposed = flashAttention === 'off';
        expect(whole.layout).toMatchObject({ keyType: kvType, valueType: kvType, valuesTransposed });
        const front = cutCells(whole, 0, headerIds.length);
        // In two parts, which a join puts side by side again.
        const rest = [headerIds.length, headerIds.length + 3, whole.positions.length];
        const parts = rest.slice(1).map((end, index) => cutCells(whole, rest[index]!, end));
        using joined = joinBlocks(front, contiguous(1, parts), options);
        expect(copyOf(joined)).toEqual(copyOf(whole));
      }
    });

    test('gives the probabilities of the prefix as text, bit by bit', async () => {
      const asText = await session.score([...headerIds, ...lines[1]!, ...question], [5, 6, 7]);
      using joined = joinBlocks(header, contiguous(1, [blocks[1]!]), options);
      await session.importCells(joined);
      expect(await session.score(question, [5, 6, 7])).toEqual(asText);
    });
  });

  describe('several memories', () => {
    test('have the keys of the first layer that llama.cpp computes there, to the rounding of half precision', async () => {
      // In the first layer a key depends on its token and its position alone.
      using whole = await evaluated([...headerIds, ...lines.flat()]);
      using joined = joinBlocks(header, contiguous(), options);
      expect(joined.tokenIds).toEqual(whole.tokenIds);
      expect(joined.positions).toEqual(whole.positions);
      expect(largestPairError(joined.keys[0]!, whole.keys[0]!)).toBeLessThan(2 ** -9);
      const off = contiguous().map((placement) => ({ ...placement, position: placement.position + 1 }));
      using displaced = joinBlocks(header, off, options);
      expect(largestPairError(displaced.keys[0]!, whole.keys[0]!)).toBeGreaterThan(2 ** -4);
      // Deeper layers have not seen the memories before.
      expect(largestPairError(joined.keys.at(-1)!, whole.keys.at(-1)!)).toBeGreaterThan(2 ** -6);
    });

    test('are read by llama.cpp as that many cells, and answer', async () => {
      using joined = joinBlocks(header, contiguous(), options);
      await session.importCells(joined);
      expect(session.tokens).toEqual([...headerIds, ...lines.flat()]);
      const { next } = await session.score(question, [5]);
      const probabilities = next.span === 'all' ? [...next.probabilities] : [];
      expect(probabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 4);
    });

    test('may share positions: cells are many, positions few, ids unknown where several cells are', async () => {
      const shared = blocks.map((block) => ({ block, position: headerIds.length, alpha: 1 }));
      using joined = joinBlocks(header, shared, options);
      await session.importCells(joined);
      const lengths = lines.map(({ length }) => length);
      const [longest, second] = lengths.toSorted((a, b) => b - a);
      expect(session.cells).toBe(headerIds.length + lengths.reduce((sum, length) => sum + length, 0));
      const alone = lines[lengths.indexOf(longest!)]!.slice(second);
      expect(session.tokens).toEqual([...headerIds, ...new Array<TokenId>(second!).fill(-1), ...alone]);
      // Nothing moved, nothing changed.
      using back = await session.exportCells();
      expect(copyOf(back)).toEqual(copyOf(joined));
      const first = cutCells(back, headerIds.length, headerIds.length + lengths[0]!);
      expect(copyOf(first)).toEqual(copyOf(blocks[0]!));
    });

    test('a join that is imported late is what it was, whatever was joined meanwhile', async () => {
      using first = joinBlocks(header, contiguous(1, [blocks[0]!]), options);
      const before = session.evaluate([...headerIds, ...lines[2]!]);
      const imported = session.importCells(first);
      using second = joinBlocks(header, contiguous(0.5), options);
      await before;
      await imported;
      expect(session.tokens).toEqual([...headerIds, ...lines[0]!]);
      using back = await session.exportCells();
      expect(copyOf(back)).toEqual(copyOf(first));
      expect(second.positions.length).toBeGreaterThan(back.positions.length);
    });
  });
});

/** The largest distance between corresponding pairs of numbers, over the length of the pair. */
function largestPairError(keys: Uint8Array, expected: Uint8Array): number {
  const [a, b] = [numbersOf(keys, 'F16'), numbersOf(expected, 'F16')];
  let largest = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i += 2) {
    const error = Math.hypot(a[i]! - b[i]!, a[i + 1]! - b[i + 1]!);
    largest = Math.max(largest, error / Math.max(Math.hypot(b[i]!, b[i + 1]!), 2 ** -8));
  }
  return largest;
}
