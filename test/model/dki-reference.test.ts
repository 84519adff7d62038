import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchDatabase, openDatabase } from '../../src/db/database.ts';
import { StateStore } from '../../src/kv/state-store.ts';
import { LanguageModel } from '../../src/llm/language-model.ts';
import { modelPathOf } from '../../src/llm/random-model/random-model.ts';
import type { NumberType } from '../../src/llm/state-format.ts';
import type { PromptSegment } from '../../src/systems/contracts.ts';
import { DKISystem } from '../../src/systems/dki/dki-system.ts';
import { type InjectionMode, linkMode, modeName } from '../../src/systems/dki/injection-mode.ts';
import { type JoinedPrompt, largestDifference, ReferenceModel } from '../reference/reference-model.ts';
import { TestFolder } from './bench-fixture.ts';
import { always, memoriesOf, partsOf, scoreOf } from './dki-fixture.ts';

/** In ln p where p ≥ 1e-6. */
const BOUNDS: readonly (readonly [NumberType, number])[] = [
  ['F32', 1e-4],
  ['F16', 0.03],
];
const WAYS: readonly (readonly [InjectionMode, number])[] = [
  ['prefix', 1],
  ['prefix', 0.5],
  ['blocks', 1],
  ['blocks', 0.5],
  ['parallel', 1],
  [linkMode(1), 1],
  [linkMode(3), 0.5],
];
const memories = memoriesOf('My dog is Brenko.', 'I live in Port Dral.', 'Tea.');

let folder: TestFolder;
let database: BenchDatabase;
beforeAll(() => {
  folder = new TestFolder();
  database = openDatabase({ path: folder.file('chat.sqlite') });
});
afterAll(() => {
  database.close();
  folder[Symbol.dispose]();
});

/** The prompt of a turn as the reference takes it. */
function joinedPrompt(segments: readonly PromptSegment[], mode: InjectionMode, alpha: number): JoinedPrompt {
  const ids = (part: readonly PromptSegment[]): number[] => part.flatMap(({ tokenIds }) => tokenIds);
  const first = segments.findIndex(({ role }) => role === 'memory');
  const last = segments.findLastIndex(({ role }) => role === 'memory');
  const blocks = segments.slice(first, last + 1).map(({ tokenIds }) => tokenIds);
  return {
    header: ids(segments.slice(0, first)),
    // A prefix is one block of everything.
    blocks: mode === 'prefix' ? [blocks.flat()] : blocks,
    suffix: ids(segments.slice(last + 1)),
    layout: mode === 'parallel' ? 'parallel' : 'blocks',
    ...(typeof mode === 'string' ? {} : { linkTokens: mode.link }),
    alpha,
  };
}

describe.each(['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'])('on %s', (shape) => {
  describe.each(BOUNDS)('with K/V in %s', (kvType, bound) => {
    let model: LanguageModel;
    let reference: ReferenceModel;
    beforeAll(async () => {
      const modelPath = await modelPathOf(`random:${shape}`);
      model = await LanguageModel.load({ modelPath, kvType, contextTokens: 512, sequences: 2 });
      reference = ReferenceModel.read(modelPath);
    });
    afterAll(async () => model.dispose());

    it.each(WAYS.map(([mode, alpha]) => ({ name: modeName(mode), mode, alpha })))(
      `$name with alpha $alpha is within ${bound} of an independent computation`,
      async ({ name, mode, alpha }) => {
        const store = new StateStore(folder.file(`${shape} ${kvType} ${name} ${alpha}`), 2 ** 26);
        await using system = new DKISystem({
          ...partsOf(model, database),
          recall: always(memories),
          store,
          mode,
          alpha,
        });
        const request = { query: 'Who?', sessionId: 's', userId: 'u', maxNewTokens: 1, includeHistory: false };
        // The second turn: from what was kept.
        await system.chat(request);
        const { promptInfo, metadata } = await system.chat(request);
        expect(metadata['reuse']).toBe('seen');
        const { nextProbabilities } = await scoreOf(model, system, ' yes');
        const expected = reference.joinedLogits(joinedPrompt(promptInfo.segments, mode, alpha));
        expect(largestDifference(expected.at(-1)!, nextProbabilities)).toBeLessThan(bound);
      },
    );
  });
});
