import { beforeAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { failedChecks, passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

describe('all arms in the chat template of the model', () => {
  let results: RunResults;
  let prompts: ReadonlyMap<string, string>;
  beforeAll(async () => {
    using folder = new TestFolder();
    const arms =
      'none,oracle,full,rag,rag-cached,dki,dki-resident,dki-blocks,dki-blocks@built=ahead,dki-link:4,dki-parallel,dki-hybrid,dki-gated,rag-twin,dki-wrong,rag@template=plain';
    const config = smallConfig(folder, {
      arms,
      model: 'random:tiny-qwen2-chat',
      template: 'chat',
      users: '10',
      limit: '16',
    });
    results = (await runBench(config))[0]!;
    const promptOf = (arm: string) => answeredTurns(config, results.run.name, arm)[0]!.prompt.finalPrompt;
    prompts = new Map(['rag', 'dki', 'rag@template=plain'].map((arm) => [arm, promptOf(arm)]));
  });

  it('pass the checks that random weights can decide', () => {
    expect(failedChecks(results)).toEqual([]);
    expect(passedChecks(results)).toEqual(
      expect.arrayContaining(['token identity', 'token accounting', 'numerical parity', 'errors']),
    );
    expect(results.run.settings['template']).toBe('chat');
    for (const { arm, errors } of results.arms) expect([arm, errors]).toEqual([arm, 0]);
  });

  it('find blocks that were computed ahead, behind the header of that template', () => {
    const turnsOf = (arm: string) => results.arms.find((found) => found.arm === arm)!.turns;
    expect(turnsOf('dki-blocks').miss).toBeGreaterThan(0);
    expect(turnsOf('dki-blocks@built=ahead').miss).toBe(0);
  });

  it('share one prompt, in the markers of the model; a setting of an arm goes before', () => {
    expect(prompts.get('dki')).toBe(prompts.get('rag'));
    expect(prompts.get('rag')).toMatch(
      /^<\|im_start\|>system\n[^]*<\|im_end\|>\n<\|im_start\|>user\n[^]*<\|im_start\|>assistant\n$/,
    );
    expect(prompts.get('rag@template=plain')).toMatch(/^System: [^]*\n\nAI:$/);
  });
});

it('a model that has none is refused before it is loaded where an arm asks for one', async () => {
  using folder = new TestFolder();
  const why = /recall-base-f16\.gguf cannot run rag@template=chat: the model has no chat template$/;
  const run = runBench(smallConfig(folder, { arms: 'none,rag@template=chat' }));
  await expect(run).rejects.toMatchObject(errorLike('bad-model', why));
});
