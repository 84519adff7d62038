import { expect, it } from 'vitest';
import { fakeAdapter } from '../../../../test/fixtures/fake-engine/fake-adapter.ts';
import type { Dataset, DatasetUser } from '../../../data/dataset.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import { requireFittingQueries, requireFittingSinks } from './require-fitting-prompts.ts';

const item = (itemId: string, query: string) => ({ itemId, query }) as DatasetUser['items'][number];
const named = (names: readonly string[]) => armRegistry.named(names, { alpha: 1, gatingThreshold: 0 });
const rules = { placement: 'chronological', labels: 'index', reserveTokens: 16 } as const;

it('names the place of a question that does not fit even without memories', async () => {
  await using engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const { contextTokens } = engine.info;
  const asked = (queries: readonly string[], place?: string): Promise<void> => {
    const items = queries.map((query, index) => item(`q${index + 1}`, query));
    const places = new Map(place === undefined ? [] : [[`q${queries.length}`, place]]);
    const users = [{ userId: 'u', items }] as unknown as DatasetUser[];
    return requireFittingQueries(users, { parts: [{ places } as unknown as Dataset] }, named(['rag']), {
      engine,
      rules,
    });
  };
  const long = 'word '.repeat(contextTokens);
  await asked(['Who?', 'w'.repeat(contextTokens / 2)]);
  const message = /^data\.jsonl:7: item "q2": the query alone takes \d+ tokens, but the window of \d+ leaves only/;
  const refusal = { code: 'context-overflow', message: expect.stringMatching(message) as string };
  await expect(asked(['Who?', long], 'data.jsonl:7')).rejects.toMatchObject(refusal);
  await expect(asked([long])).rejects.toThrow(/^item "q1": the query alone takes /);
});

it('refuses an arm whose sink is longer than the header of a prompt', async () => {
  await using engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const asked = (names: readonly string[], ...systemPrompts: readonly string[]): Promise<void> => {
    const items = systemPrompts.map((systemPrompt, index) => ({ itemId: `q${index}`, query: 'Who?', systemPrompt }));
    const users = [{ userId: 'u', items }] as unknown as DatasetUser[];
    return requireFittingSinks(users, named(names), { engine, rules });
  };
  const long = 'Answer with the words of the notes, and with nothing else that anybody could say.';
  const refused = await asked(['rag', 'dki-blocks@sink=400'], long).catch((error: unknown) => error);
  const message = /^--arms dki-blocks@sink=400: @sink=400: the prompt has only \d+ tokens before its memories/;
  expect(refused).toMatchObject({ code: 'bad-option', message: expect.stringMatching(message) as string });
  const most = Number(/the prompt has only (\d+)/.exec((refused as Error).message)![1]);
  await asked(['rag', `dki-blocks@sink=${most}`], long);
  await expect(asked([`dki-blocks@sink=${most}:kept`], long, 'Answer.')).rejects.toThrow('tokens before its memories');
  await asked(['rag', 'dki-blocks'], 'Answer.');
});
