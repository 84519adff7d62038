import { describe, expect, it } from 'vitest';
import { fakeAdapter } from '../../../../test/fixtures/fake-engine/fake-adapter.ts';
import type { EngineInspection } from '../../../engine/engine-adapter.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import type { ChatEngine } from '../../../systems/prompt/chat-form.ts';
import { armObstacle, suiteArms, armsWithWorkingTemplate, requireMeasurable, runnableArms } from './runnable-arms.ts';

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

const named = (arms: readonly { traits: { name: string } }[]) => arms.map(({ traits }) => traits.name);

it('arms of a suite also run with the other prompt template, unless the model has no chat template', () => {
  expect(suiteArms(suite, chat, plain).names.slice(-2)).toEqual(tries('chat'));
  expect(suiteArms(suite, chat, { template: 'chat' }).names.slice(-2)).toEqual(tries('plain'));
  expect(suiteArms(suite, bare, plain)).toEqual({
    names: suite.arms,
    notRun: tries('chat').map((arm) => ({ arm, why: 'the model has no chat template' })),
  });
  expect(suiteArms({ arms: suite.arms }, bare, plain)).toEqual({ names: suite.arms, notRun: [] });
});

it('a chat template that cannot be used removes arms from a suite, and ends a run that names them', async () => {
  const model = { name: 'm', chatTemplate: '{{ messages[0].content }}' };
  const engine: ChatEngine = {
    info: { model, bosToken: null, markers: { bos: '', eos: '' }, endTokens: [] },
    tokenize: () => Promise.resolve([]),
    detokenize: () => Promise.resolve([]),
  };
  const arms = armsNamed('rag', 'rag@template=chat');
  const left = await armsWithWorkingTemplate(arms, engine, plain, true);
  expect(named(left.arms)).toEqual(['rag']);
  const why = 'the chat template of m cannot be used';
  expect(left.notRun).toEqual([
    { arm: 'rag@template=chat', why: expect.stringContaining(`${why}: it leaves out`) as string },
  ]);
  await expect(armsWithWorkingTemplate(arms, engine, plain, false)).rejects.toThrow(why);
  await expect(armsWithWorkingTemplate(arms, engine, { template: 'chat' }, true)).rejects.toThrow(why);
  expect(await armsWithWorkingTemplate(arms.slice(0, 1), engine, plain, false)).toEqual({
    arms: [arms[0]],
    notRun: [],
  });
});

describe('arms that an engine cannot run', () => {
  const arms = armsNamed('none', 'rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-parallel', 'rag@template=chat');

  it('lack a capability or a chat template, and say which', () => {
    const why = 'keys with yarn RoPE scaling cannot be moved to other positions';
    const none = 'the model has no chat template';
    const obstacles = (missing: EngineInspection['missing'], inspection = bare, template: 'plain' | 'chat' = 'plain') =>
      arms.map((arm) => armObstacle(arm, { ...inspection, missing }, { ...plain, template }) ?? '-');
    expect(obstacles({})).toEqual(['-', '-', '-', '-', '-', '-', none]);
    expect(obstacles({ cells: why })).toEqual(['-', '-', '-', '-', why, why, none]);
    expect(obstacles({ checkpoints: why, promptCache: why })).toEqual(['-', '-', why, why, '-', '-', none]);
    expect(obstacles({ sharedPositions: 'no sharing' }, chat)[5]).toBe('no sharing');
    expect(obstacles({}, bare, 'chat')).toEqual(Array(7).fill(none));
    expect(obstacles({}, chat, 'chat')).toEqual(Array(7).fill('-'));
  });

  it('end a run that names them, with every reason, and are left out of a suite', () => {
    const inspection = { ...bare, missing: { cells: 'no cells', checkpoints: 'no files', promptCache: 'no files' } };
    const runnable = (usesSuiteArms: boolean, wanted = arms.slice(0, 6)) =>
      runnableArms(inspection, wanted, { ...plain, model: 'm.gguf' }, usesSuiteArms);
    const reasons = 'rag-cached, dki: no files; dki-blocks, dki-parallel: no cells';
    expect(() => runnable(false)).toThrow(`m.gguf cannot run ${reasons}`);
    const { arms: left, notRun } = runnable(true);
    expect(named(left)).toEqual(['none', 'rag']);
    expect(notRun.map(({ arm, why }) => `${arm}: ${why}`).join(', ')).toBe(
      'rag-cached: no files, dki: no files, dki-blocks: no cells, dki-parallel: no cells',
    );
    expect(() => runnable(true, arms.slice(2, 4))).toThrow('m.gguf cannot run rag-cached, dki: no files');
  });

  it('a suite that measures KV is refused if there is none', () => {
    const storage = { name: 'storage', requires: ['checkpoints', 'cells'] } as const;
    const without = { ...bare, missing: { cells: 'no cells' } };
    const message = 'suite storage cannot measure m.gguf: no cells';
    expect(() => requireMeasurable('m.gguf', without, storage)).toThrow(message);
    requireMeasurable('m.gguf', bare, storage);
    requireMeasurable('m.gguf', without, { name: 'main' });
  });

  it('need retrieval scores, which a list of passages lacks, or a summary, which only some retrievers make', () => {
    const [gated, rag, summary] = armsNamed('dki-gated', 'rag', 'summary');
    const given = { ...plain, retriever: 'given' } as const;
    expect(armObstacle(gated!, bare, given)).toBe('its gate needs retrieval scores, and --retriever given has none');
    expect([armObstacle(gated!, bare, plain), armObstacle(rag!, bare, given)]).toEqual([undefined, undefined]);
    const why = 'its prompt shows a summary that only --retriever tiered makes';
    expect(armObstacle(summary!, bare, plain)).toBe(why);
    expect(armObstacle(summary!, bare, { ...plain, retriever: 'tiered' })).toBeUndefined();
    const runnable = (usesSuiteArms: boolean) =>
      runnableArms(bare, [rag!, summary!], { ...plain, model: 'm.gguf' }, usesSuiteArms);
    const hint = 'add --retriever tiered, or choose other arms, such as --arms none,rag';
    const refusal: unknown = expect.objectContaining({ message: `m.gguf cannot run summary: ${why}`, hint });
    expect(() => runnable(false)).toThrow(refusal);
    expect(runnable(true)).toEqual({ arms: [rag], notRun: [{ arm: 'summary', why }] });
  });

  it('need edited cells if values are scaled', () => {
    const obstacles = armsNamed('dki@alpha=0.5', 'dki').map((arm) =>
      armObstacle(arm, { ...bare, missing: { cells: 'no cells' } }, plain),
    );
    expect(obstacles).toEqual(['no cells', undefined]);
  });
});
