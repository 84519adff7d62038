import { expect, test } from 'vitest';
import { resolveModelFile } from '../../src/engine/gguf/model-file.ts';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { float64Cells } from '../../src/eval/run/prove/float64-cells.ts';
import { cutCells } from '../../src/kv/cut-cells.ts';
import { kvOperations } from '../../src/kv/kv-operations.ts';
import type { BlockContext } from '../../src/systems/prefill/gather-blocks.ts';
import { scoreTokensToRecompute } from '../../src/systems/prefill/score-tokens-to-recompute.ts';
import { causal, forwardPass, placed } from './forward-pass.ts';
import { ReferenceModel } from './reference-model.ts';

/** The tiny models have three layers; of each KV head two query heads share the keys. */
const LAYER = 1;
const shapes = ['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'];
const prompt = Array.from({ length: 20 }, (_, index) => (index * index * 7 + index * 113 + 631) % 2048);
const [header, firstBlock] = [4, 5];
const question = { start: 1, end: 5 };
const memories = prompt.length - 6;

test.each(shapes)("%s: queries and the question's attention are those of plain arithmetic", async (shape) => {
  const { weights } = ReferenceModel.read(await resolveModelFile(`random:${shape}`));
  const { heads, kvHeads, headDimension } = weights;
  const model = `random:${shape}`;
  await using engine = await llamaCpp.opener({}).open({ model, contextTokens: 256, sessions: 2 });
  const { cells, queries } = forwardPass(weights, placed(prompt, 0), [], causal(0));

  const part = await engine.firstLayers(LAYER + 1, { queries: true });
  await using early = await part.openSession('test');
  await early.evaluate(prompt);
  using state = await early.exportCells();
  float64Cells(state).forEach(({ keys }, token) => {
    const expected = queries[token]![LAYER]!;
    const largest = Math.max(...expected.map(Math.abs));
    expect(keys[LAYER]).toHaveLength(heads * headDimension);
    keys[LAYER]!.forEach((number, at) => expect(Math.abs(number - expected[at]!)).toBeLessThan(0.004 * largest));
  });

  await using session = await engine.openSession('blocks');
  await session.evaluate(prompt.slice(0, memories));
  using joined = await session.exportCells();
  const blocks = [cutCells(joined, header, header + firstBlock), cutCells(joined, header + firstBlock, memories)];
  const context = { engine, session, kv: kvOperations } as unknown as BlockContext;
  const rest = { suffix: prompt.slice(memories), question };
  const { scores, selector } = await scoreTokensToRecompute('query', context, {
    ...{ state: joined, header: cutCells(joined, 0, header), blocks, rest },
  });
  expect(selector).toMatchObject({ model: 'first-layers', tokens: question.end, layers: LAYER + 1 });
  const expected = new Float64Array(memories - header);
  for (let token = memories + question.start; token < memories + question.end; token++) {
    for (let head = 0; head < heads; head++) {
      const kvHead = Math.floor((head * kvHeads) / heads);
      const powers = Array.from(expected, (_, cell) => {
        const query = queries[token]![LAYER]!.subarray(head * headDimension, (head + 1) * headDimension);
        const key = cells[header + cell]!.keys[LAYER]!.subarray(kvHead * headDimension, (kvHead + 1) * headDimension);
        return Math.exp(query.reduce((sum, number, at) => sum + number * key[at]!, 0) / Math.sqrt(headDimension));
      });
      const total = powers.reduce((sum, power) => sum + power, 0);
      powers.forEach((power, cell) => (expected[cell]! += power / total / heads / (question.end - question.start)));
    }
  }
  expected.forEach((share, cell) => expect(scores[cell]).toBeCloseTo(share, 2));
  expect(Math.max(...expected)).toBeGreaterThan(1.5 / expected.length);
});
