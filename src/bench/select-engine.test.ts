import { expect, test } from 'vitest';
import { adapters, selectEngine, selectEngineForRuns } from './select-engine.ts';

const shape = 'random:tiny-llama';

test('an engine gets the options that it supports, and refuses others', async () => {
  await using engine = await selectEngine({ flashAttention: 'on' }).open({ model: shape, contextTokens: 256 });
  expect(engine.info.compute).toEqual({
    ...{ backend: 'cpu', devices: [], memoryBytes: 0, layers: 0 },
    flashAttention: true,
  });
  expect(engine.info.stateIdentity).toMatch(/, flash attention on, F16, batches of 512$/);
  const remote = { ...adapters[0]!, name: 'remote', options: { ...adapters[0]!.options, shape: {} } };
  (adapters as unknown[]).push(remote);
  try {
    expect(() => selectEngine({ engine: 'remote', gpu: 'auto', given: ['gpu'] })).toThrow(
      expect.objectContaining({
        code: 'bad-option',
        message: '--gpu: the engine remote has no such option',
        hint: 'drop it',
      }),
    );
  } finally {
    (adapters as unknown[]).pop();
  }
});

test('a stored run uses its engine, unless --engine names another', () => {
  const given = selectEngineForRuns({ engine: 'llama-cpp', given: [] });
  expect(() => given({ engine: 'gone' })).toThrow('--engine gone: no such engine');
  expect(() => selectEngineForRuns({ engine: 'llama-cpp', given: ['engine'] })({ engine: 'gone' })).not.toThrow();
  // Runs stored before there was a choice name no engine.
  expect(() => given({})).not.toThrow();
});

test('an accelerator that this machine lacks is refused by name, and what to do', async () => {
  const accelerators = await selectEngine().accelerators();
  const lacking = accelerators.find(({ obstacle }) => obstacle !== null);
  const other = process.platform === 'darwin' ? 'cuda' : 'metal';
  await expect(selectEngine({ gpu: other }).open({ model: shape })).rejects.toMatchObject({
    code: 'not-found',
    message: `llama.cpp's binary for ${other} does not exist for ${process.platform}-${process.arch}`,
  });
  if (lacking === undefined) return;
  const { why, advice } = lacking.obstacle!;
  await expect(selectEngine({ gpu: lacking.name as 'cuda' }).open({ model: shape })).rejects.toMatchObject({
    code: 'not-found',
    message: why,
    hint: advice,
  });
});
