import { describe, expect, it } from 'vitest';
import { fakeAdapter } from '../../../../test/fixtures/fake-engine/fake-adapter.ts';
import type { EngineInspection } from '../../../engine/engine-request.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import type { ChatEngine } from '../../../systems/prompt/chat-form.ts';
import { armObstacle, armsOfSuite, armsWithForms, requireMeasurable, runnableArms } from './arm-obstacles.ts';

const inspected = await fakeAdapter.opener({}).inspect('fake');
const withTemplate = (chatTemplate: string | null): EngineInspection => ({
  ...inspected,
  model: { ...inspected.model, chatTemplate },
});
const bare = withTemplate(null);
const chat = withTemplate('{{ messages }}');
const plain = { template: 'plain', retriever: 'router' } as const;
const suite = { arms: ['none', 'rag', 'dki'], triesTemplate: ['rag', 'dki'] };
const tries = (form: string): string[] => ['rag', 'dki'].map((arm) => `${arm}@template=${form}`);
const armsNamed = (...names: string[]) => armRegistry.named(names, { alpha: 1, gatingThreshold: 0 });

describe('the arms of a suite', () => {
  it('try the form of prompts that the run has not, with the reason where the model has none', () => {
    expect(armsOfSuite(suite, chat, plain).names.slice(-2)).toEqual(tries('chat'));
    expect(armsOfSuite(suite, chat, { template: 'chat' }).names.slice(-2)).toEqual(tries('plain'));
    expect(armsOfSuite(suite, bare, plain)).toEqual({
      names: suite.arms,
      notRun: tries('chat').map((arm) => ({ arm, why: 'the model has no chat template' })),
    });
    expect(armsOfSuite({ arms: suite.arms }, bare, plain)).toEqual({ names: suite.arms, notRun: [] });
  });
});

describe('a chat template that cannot be used', () => {
  const engine: ChatEngine = {
    info: {
      model: { name: 'm', chatTemplate: '{{ messages[0].content }}' },
      bosToken: null,
      markers: { bos: '', eos: '' },
      endTokens: [],
    },
    tokenize: () => Promise.resolve([]),
    detokenize: () => Promise.resolve([]),
  };
  const arms = armsNamed('rag', 'rag@template=chat');

  it('takes its rows out of a suite, and ends a run that somebody wanted it for', async () => {
    const left = await armsWithForms(arms, engine, plain, true);
    expect(left.arms.map(({ traits }) => traits.name)).toEqual(['rag']);
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
      await expect(armsWithForms(arms, engine, { template }, isSuites)).rejects.toThrow(
        'the chat template of m cannot be used',
      );
    }
    const [first] = arms;
    expect(await armsWithForms([first!], engine, plain, false)).toEqual({ arms: [first], notRun: [] });
  });
});

describe('arms that an engine cannot run', () => {
  const arms = armsNamed('none', 'rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-parallel', 'rag@template=chat');

  it('lack a capability, or a chat template, and say which', () => {
    const why = 'keys of a model with yarn RoPE scaling cannot be re-positioned';
    const shared = 'positions cannot be shared';
    const none = 'the model has no chat template';
    const of = (
      missing: EngineInspection['missing'],
      inspection = bare,
      config: Parameters<typeof armObstacle>[2] = plain,
    ) => arms.map((arm) => armObstacle(arm, { ...inspection, missing }, config));
    expect(of({})).toEqual([undefined, undefined, undefined, undefined, undefined, undefined, none]);
    expect(of({ cells: why })).toEqual([undefined, undefined, undefined, undefined, why, why, none]);
    expect(of({ checkpoints: why, promptCache: why })).toEqual([
      undefined,
      undefined,
      why,
      why,
      undefined,
      undefined,
      none,
    ]);
    expect(of({ sharedPositions: shared }, chat)[5]).toBe(shared);
    const inChat = { ...plain, template: 'chat' } as const;
    expect(of({}, bare, inChat)).toEqual(Array(7).fill(none));
    expect(of({}, chat, inChat)).toEqual(Array(7).fill(undefined));
  });

  it('end a run that somebody wanted them for, with every reason, and are left out of a suite', () => {
    const inspection = { ...bare, missing: { cells: 'no cells', checkpoints: 'no files', promptCache: 'no files' } };
    const runnable = (isSuites: boolean, wanted = arms.slice(0, 6)) =>
      runnableArms(inspection, wanted, { ...plain, model: 'm.gguf' }, isSuites);
    expect(() => runnable(false)).toThrow(
      'm.gguf cannot run rag-cached, dki: no files; dki-blocks, dki-parallel: no cells',
    );
    const { arms: left, notRun } = runnable(true);
    expect(left.map(({ traits }) => traits.name)).toEqual(['none', 'rag']);
    expect(notRun).toEqual([
      { arm: 'rag-cached', why: 'no files' },
      { arm: 'dki', why: 'no files' },
      { arm: 'dki-blocks', why: 'no cells' },
      { arm: 'dki-parallel', why: 'no cells' },
    ]);
    expect(() => runnable(true, arms.slice(2, 4))).toThrow('m.gguf cannot run rag-cached, dki: no files');
  });

  it('a suite that measures KV is refused where there is none', () => {
    const storage = { name: 'storage', requires: ['checkpoints', 'cells'] } as const;
    const without = { ...bare, missing: { cells: 'no cells' } };
    expect(() => requireMeasurable('m.gguf', without, storage)).toThrow(
      'suite storage cannot measure m.gguf: no cells',
    );
    expect(() => requireMeasurable('m.gguf', bare, storage)).not.toThrow();
    expect(() => requireMeasurable('m.gguf', without, { name: 'main' })).not.toThrow();
  });

  it('read scores of retrieval, and a list of passages has none', () => {
    const [gated, rag] = armsNamed('dki-gated', 'rag');
    const given = { ...plain, retriever: 'given' } as const;
    expect(armObstacle(gated!, bare, given)).toBe('its gate reads scores of retrieval, and --retriever given has none');
    expect([armObstacle(gated!, bare, plain), armObstacle(rag!, bare, given)]).toEqual([undefined, undefined]);
  });

  it('show a summary, which only some retrievers make', () => {
    const why = 'its prompt shows a summary that only --retriever tiered makes';
    const [summary, rag] = armsNamed('summary', 'rag');
    expect(armObstacle(summary!, bare, plain)).toBe(why);
    expect(armObstacle(summary!, bare, { ...plain, retriever: 'tiered' })).toBeUndefined();
    expect(() => runnableArms(bare, [rag!, summary!], { ...plain, model: 'm.gguf' }, false)).toThrow(
      expect.objectContaining({
        message: `m.gguf cannot run summary: ${why}`,
        hint: 'add --retriever tiered, or choose other arms, such as --arms none,rag',
      }),
    );
    expect(runnableArms(bare, [rag!, summary!], { ...plain, model: 'm.gguf' }, true)).toEqual({
      arms: [rag],
      notRun: [{ arm: 'summary', why }],
    });
  });

  it('need edited cells where values are scaled', () => {
    const missing = { cells: 'no cells' };
    expect(armObstacle(armsNamed('dki@alpha=0.5')[0]!, { ...bare, missing }, plain)).toBe('no cells');
    expect(armObstacle(armsNamed('dki')[0]!, { ...bare, missing }, plain)).toBeUndefined();
  });
});
