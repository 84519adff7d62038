import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import type { TokenizeRequest } from '../../engine/engine.ts';
import { PromptTokenizer, type TokenizingEngine } from './prompt-tokenizer.ts';
import type { Segment } from './prompt-form.ts';

/** An engine of one token a character, and every batch that it was sent. A text that opens the sequence begins with 1. */
function recordingEngine(bosToken: number | null = null): {
  readonly engine: TokenizingEngine;
  readonly batches: TokenizeRequest[][];
} {
  const batches: TokenizeRequest[][] = [];
  return {
    batches,
    engine: {
      info: { bosToken },
      tokenize: async (texts) => {
        batches.push([...texts]);
        return texts.map(({ text, first }) => [...(first === true ? [1] : []), ...Buffer.from(text)]);
      },
    },
  };
}

const segment = (text: string, role: Segment['role'] = 'memory'): Segment => ({ role, text });

it('sends all segments that a computation asks for at once as one batch, each once', async () => {
  const { engine, batches } = recordingEngine();
  const tokenizer = new PromptTokenizer(engine);
  const counts = await tokenizer.settle(() => [
    tokenizer.count(segment('a')),
    tokenizer.countAll([segment('bcd'), segment('a'), segment('ef')]),
  ]);
  expect(counts).toEqual([1, 6]);
  expect(batches.map((batch) => batch.map(({ text }) => text))).toEqual([['a', 'bcd', 'ef']]);
});

it('asks again for what depends on the counts, until nothing is missing', async () => {
  const { engine, batches } = recordingEngine();
  const tokenizer = new PromptTokenizer(engine);
  let computed = 0;
  const total = await tokenizer.settle(() => {
    computed++;
    const first = tokenizer.count(segment('abc'));
    return first < 3 ? first : first + tokenizer.count(segment('de'));
  });
  expect(total).toBe(5);
  expect(batches.map((batch) => batch.map(({ text }) => text))).toEqual([['abc'], ['de']]);
  expect(computed).toBe(3);
});

it('sends nothing that was tokenised before, and again where a text opens the sequence or is of a template', async () => {
  const { engine, batches } = recordingEngine(7);
  const tokenizer = new PromptTokenizer(engine);
  const text = segment('ab');
  await tokenizer.settle(() => tokenizer.count(text));
  await tokenizer.settle(() => tokenizer.count({ ...text, role: 'query' }));
  expect(batches).toHaveLength(1);
  const segments = await tokenizer.settle(() => tokenizer.tokenize([text, text, segment('ab', 'template')]));
  const opening = { text: 'ab', as: 'text', first: true };
  expect(batches.slice(1)).toEqual([[opening, { text: 'ab', as: 'template', first: false }]]);
  expect(segments.map(({ role, tokenIds }) => [role, tokenIds])).toEqual([
    ['bos', [7]],
    ['memory', [1, 97, 98]],
    ['memory', [97, 98]],
    ['template', [97, 98]],
  ]);
});

it('gives each segment the ids that it has alone', async () => {
  await using engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const roles = fc.constantFrom<Segment['role']>('memory', 'query', 'template');
  const segments = fc.array(fc.record({ role: roles, text: fc.string({ unit: 'grapheme' }) }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(segments, async (list) => {
      const tokenizer = new PromptTokenizer(engine);
      const [bos, ...together] = await tokenizer.settle(() => tokenizer.tokenize(list));
      const alone = await Promise.all(
        list.map(({ role, text }, index) =>
          engine.tokenize([{ text, as: role === 'template' ? 'template' : 'text', first: index === 0 }]),
        ),
      );
      expect(bos!.tokenIds).toEqual([engine.info.bosToken]);
      expect(together.map(({ tokenIds }) => tokenIds)).toEqual(alone.flat());
      const total = await tokenizer.settle(() => tokenizer.countAll(list.slice(1)));
      expect(total).toBe(alone.slice(1).flat(2).length);
    }),
    { numRuns: 50 },
  );
});

it('fails as the engine does, and tries again the next time', async () => {
  const { engine } = recordingEngine();
  let failures = 1;
  const tokenizer = new PromptTokenizer({
    ...engine,
    tokenize: async (texts) => {
      if (failures-- > 0) throw new Error('unreachable');
      return engine.tokenize(texts);
    },
  });
  const count = () => tokenizer.settle(() => tokenizer.count(segment('abc')));
  await expect(count()).rejects.toThrow('unreachable');
  expect(await count()).toBe(3);
});
