import { expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import type { DatasetUser } from '../../data/dataset.ts';
import { armRegistry } from '../../systems/arms/arm-registry.ts';
import { requireFittingSinks } from './fitting-sinks.ts';

it('shared tokens that a prompt has not in front of its memories are refused by the name of the arm', async () => {
  await using engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const rules = { placement: 'chronological', labels: 'index', reserveTokens: 16 } as const;
  const asked = (names: readonly string[], ...systemPrompts: readonly string[]): Promise<void> => {
    const items = systemPrompts.map((systemPrompt, index) => ({ itemId: `q${index}`, query: 'Who?', systemPrompt }));
    const users = [{ userId: 'u', items }] as unknown as DatasetUser[];
    return requireFittingSinks(users, armRegistry.named(names, { alpha: 1, gatingThreshold: 0 }), { engine, rules });
  };
  const long = 'Answer with the words of the notes, and with nothing else that anybody could say.';
  const refused = await asked(['rag', 'dki-blocks@sink=400'], long).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'bad-option',
    message: expect.stringMatching(
      /^--arms dki-blocks@sink=400: @sink=400: the prompt has \d+ tokens in front/,
    ) as string,
  });
  const most = Number(/the prompt has (\d+)/.exec((refused as Error).message)![1]);
  await asked(['rag', `dki-blocks@sink=${most}`], long);
  await expect(asked([`dki-blocks@sink=${most}:kept`], long, 'Answer.')).rejects.toThrow('tokens in front');
  await asked(['rag', 'dki-blocks'], 'Answer.');
});
