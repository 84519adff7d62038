import { describe, expect, it } from 'vitest';
import { readGgufHeader } from '../../llm/gguf-header.ts';
import { modelPathOf } from '../../llm/random-model/random-model.ts';
import { ablationSuite } from '../suites/ablation-suite.ts';
import { mainSuite } from '../suites/main-suite.ts';
import { armsNamed } from './arms.ts';
import { armObstacle, armsOfSuite, armsWithForms, requireAbility } from './model-ability.ts';

const bare = await readGgufHeader(await modelPathOf('random:tiny-llama'));
const chat = await readGgufHeader(await modelPathOf('random:tiny-qwen2-chat'));
const plain = { template: 'plain' } as const;
const tries = (form: string): string[] => ['rag', 'dki', 'dki-blocks'].map((arm) => `${arm}@template=${form}`);

describe('the arms of a suite', () => {
  it('try the form of prompts that the run has not, and are told of where the model has none', () => {
    expect(armsOfSuite(ablationSuite, chat, plain).names.slice(-3)).toEqual(tries('chat'));
    expect(armsOfSuite(ablationSuite, chat, { template: 'chat' }).names.slice(-3)).toEqual(tries('plain'));
    expect(armsOfSuite(ablationSuite, bare, plain)).toEqual({
      names: ablationSuite.arms,
      notRun: tries('chat').map((arm) => ({ arm, why: 'the model has no chat template' })),
    });
    expect(armsOfSuite(mainSuite, bare, plain)).toEqual({ names: mainSuite.arms, notRun: [] });
  });
});

describe('a chat template that cannot be used', () => {
  const model = {
    info: { name: 'm', chatTemplate: '{{ messages[0].content }}', bosToken: undefined },
    markers: { bos: '', eos: '' },
    tokenizeControl: () => [],
    detokenize: () => '',
    endsText: () => false,
  };
  const arms = armsNamed(['rag', 'rag@template=chat'], { alpha: 1, gatingThreshold: 0 });

  it('takes its rows out of a suite, and ends a run that somebody wanted it for', () => {
    const left = armsWithForms(arms, model, plain, true);
    expect(left.arms.map(({ name }) => name)).toEqual(['rag']);
    expect(left.notRun).toEqual([
      {
        arm: 'rag@template=chat',
        why: expect.stringContaining('the chat template of m cannot be used: it leaves out'),
      },
    ]);
    for (const [template, isSuites] of [
      ['plain', false],
      ['chat', true],
    ] as const) {
      expect(() => armsWithForms(arms, model, { template }, isSuites)).toThrow('the chat template of m cannot be used');
    }
    expect(armsWithForms(arms.slice(0, 1), model, plain, false)).toEqual({ arms: arms.slice(0, 1), notRun: [] });
  });
});

describe('what a model cannot run', () => {
  const arms = armsNamed(['none', 'rag', 'rag-cached', 'dki', 'rag@template=chat'], { alpha: 1, gatingThreshold: 0 });

  it('is K/V that cannot be moved, and a chat template that it has not', () => {
    const yarn = { ...bare, rope: { ...bare.rope, scaling: 'yarn' } };
    const why = 'keys of a model with yarn RoPE scaling cannot be re-positioned';
    const none = 'the model has no chat template';
    const of = (header: typeof bare, template: 'plain' | 'chat'): unknown[] =>
      arms.map((arm) => armObstacle(arm, header, { template }));
    expect(of(yarn, 'plain')).toEqual([undefined, undefined, why, why, none]);
    expect(of(bare, 'plain')).toEqual([undefined, undefined, undefined, undefined, none]);
    expect(of(bare, 'chat')).toEqual(Array(5).fill(none));
    expect(of(chat, 'chat')).toEqual(Array(5).fill(undefined));
    expect(() => requireAbility('m.gguf', yarn, arms.slice(0, 4), plain)).toThrow(
      `m.gguf cannot run rag-cached, dki: ${why}`,
    );
  });
});
