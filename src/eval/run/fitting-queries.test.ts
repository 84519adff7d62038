import { expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import type { Dataset, DatasetUser } from '../../data/dataset.ts';
import { armRegistry } from '../../systems/arms/arm-registry.ts';
import { requireFittingQueries } from './fitting-queries.ts';

const item = (itemId: string, query: string) => ({ itemId, query }) as DatasetUser['items'][number];
const arms = armRegistry.named(['rag'], { alpha: 1, gatingThreshold: 0 });

it('a question that does not fit alone is named with its place, whatever stands before it', async () => {
  await using engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const { contextTokens } = engine.info;
  const parts = { engine, rules: { placement: 'chronological', labels: 'index', reserveTokens: 16 } as const };
  const asked = (queries: readonly string[], place?: string): Promise<void> => {
    const items = queries.map((query, index) => item(`q${index + 1}`, query));
    const places = new Map(place === undefined ? [] : [[`q${queries.length}`, place]]);
    const users = [{ userId: 'u', items }] as unknown as DatasetUser[];
    return requireFittingQueries(users, { parts: [{ places } as unknown as Dataset] }, arms, parts);
  };
  const long = 'word '.repeat(contextTokens);
  await asked(['Who?', 'w'.repeat(contextTokens / 2)]);
  await expect(asked(['Who?', long], 'data.jsonl:7')).rejects.toMatchObject({
    code: 'context-overflow',
    message: expect.stringMatching(
      /^data\.jsonl:7: item "q2": the query alone takes \d+ tokens; \d+ of the window/,
    ) as string,
  });
  await expect(asked([long])).rejects.toThrow(/^item "q1": the query alone takes /);
});
