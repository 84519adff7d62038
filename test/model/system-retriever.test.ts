import { afterEach, expect, it, vi } from 'vitest';
import { openSystem } from '../../src/index.ts';

afterEach(() => vi.unstubAllEnvs());

it('a system retrieves with the configured retriever', async () => {
  const dog = 'My dog is called Brenko.';
  const car = 'I sold my car.';
  const found = async (): Promise<string> => {
    await using system = await openSystem();
    await system.addMemory('s', dog, { userId: 'ann', metadata: { createdAt: '2026-01-01T00:00:00.000Z' } });
    await system.addMemory('s', car, { userId: 'ann', metadata: { createdAt: '2026-06-01T00:00:00.000Z' } });
    const { memoriesUsed } = await system.chat({ query: 'What is my dog called?', sessionId: 's', userId: 'ann' });
    return memoriesUsed.toSorted((a, b) => b.score - a.score)[0]!.content;
  };
  expect(await found()).toBe(dog);
  vi.stubEnv('DKI_BENCH_RETRIEVER', 'salience');
  vi.stubEnv('DKI_BENCH_SALIENCE_WEIGHTS', 'recency=1');
  expect(await found()).toBe(car);
});
