import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { innerProduct } from '../../base/inner-product.ts';
import { MemoryRouter } from './memory-router.ts';
import { backend, embeddings } from '../../../test/fixtures/shipped-embedder.ts';

let router: MemoryRouter;
beforeEach(() => {
  embeddings.clear();
  router = new MemoryRouter(embeddings, { backend, topK: 3, threshold: -1 });
});

const ids = (results: readonly { readonly memoryId: string }[]) => results.map(({ memoryId }) => memoryId);

test('a text retrieves itself first, with score 1, content and metadata', async () => {
  const metadata = { value: 'Miso', createdAt: '2026-01-01' };
  const cat = { memoryId: 'm1', content: 'My cat is called Miso.', metadata };
  const work = { memoryId: 'm2', userId: 'ann', content: 'I work as a plumber in Leeds.' };
  await router.addMemories([{ ...cat, userId: 'ann' }, work]);
  const [best, second] = await router.search('My cat is called Miso.', { userId: 'ann' });
  expect(best).toEqual({ ...cat, score: expect.closeTo(1, 6), metadata: { ...metadata, userId: 'ann' } });
  expect(second?.memoryId).toBe('m2');
  expect(second?.score).toBeLessThan(0.999);
});

test('a user sees neither the memories of another nor those without a user', async () => {
  for (const userId of ['ann', 'bob', undefined]) {
    await router.addMemory({ memoryId: 'm', userId, content: `The secret of ${userId} is tea.` });
  }
  // Under one index, the many of bob would take all places and ann's would be filtered away.
  const ofBob = { userId: 'bob', content: 'The secret of ann is tea.' };
  await router.addMemories(Array.from({ length: 50 }, (_, i) => ({ memoryId: `b${i}`, ...ofBob })));
  const content = async (userId?: string) =>
    (await router.search('The secret of ann is tea.', { userId, topK: 1 })).map((result) => result.content);
  expect(await content('ann')).toEqual(['The secret of ann is tea.']);
  expect(await content()).toEqual(['The secret of undefined is tea.']);
  expect(await content('eve')).toEqual([]);
  expect(router.removeMemory('m', 'eve')).toBe(false);
  expect(router.removeMemory('m', 'ann')).toBe(true);
  expect(await content('ann')).toEqual([]);
  expect(router.getMemory('m', 'bob')?.content).toBe('The secret of bob is tea.');
  expect(ids(router.listMemories())).toEqual(['m']);
});

test('0 is a value of topK and of threshold, not "unset"', async () => {
  const positive = await embeddings.embed('tea');
  await router.addMemories([
    { memoryId: 'same', content: 'a', embedding: positive },
    { memoryId: 'opposite', content: 'b', embedding: positive.map((value) => -value) },
  ]);
  expect(await router.search('tea', { topK: 0 })).toEqual([]);
  expect(ids(await router.search('tea'))).toEqual(['same', 'opposite']);
  expect(ids(await router.search('tea', { threshold: 0 }))).toEqual(['same']);
  expect((await router.search('tea'))[1]?.score).toBeCloseTo(-1, 6);
  await expect(router.search('tea', { threshold: NaN })).rejects.toThrow('threshold');
});

test('normalises vectors of any length without changing those of the caller', async () => {
  const embedding = (await embeddings.embed('tea')).map((value) => value * 40);
  await router.addMemory({ memoryId: 'm', content: 'x', embedding });
  embedding.fill(0);
  expect((await router.search('tea'))[0]?.score).toBeCloseTo(1, 6);
});

test('embeds the texts without a vector in one call, and only once', async () => {
  const before = embeddings.stats().texts;
  const embedding = await embeddings.embed('tea');
  const given = { memoryId: 'b', content: 'never embedded', embedding };
  await router.addMemories([{ memoryId: 'a', content: 'coffee' }, given, { memoryId: 'c', content: 'milk' }]);
  expect(embeddings.stats().texts - before).toBe(3);
  router.removeMemory('a');
  expect(router.stats()).toMatchObject({ needRebuild: 1 });
  router.rebuildIndex();
  expect(router.stats()).toMatchObject({ needRebuild: 0, memories: 2, namespaces: 1, backend: backend.name });
  expect(embeddings.stats().texts - before).toBe(3);
});

test('of equal scores the older comes first, also at the cut-off', async () => {
  const embedding = await embeddings.embed('tea');
  const names = Array.from({ length: 40 }, (_, i) => `m${39 - i}`);
  await router.addMemories(names.map((memoryId) => ({ memoryId, content: memoryId, embedding })));
  expect(ids(await router.search('tea', { topK: 5 }))).toEqual(names.slice(0, 5));
  // Replaced, it is the youngest.
  await router.addMemory({ memoryId: names[0]!, content: 'again', embedding });
  expect(ids(await router.search('tea', { topK: 2 }))).toEqual(names.slice(1, 3));
  expect(ids(await router.search('tea', { topK: 99 }))).toEqual([...names.slice(1), names[0]]);
});

test('logs the creation, extension and rebuilding of an index, without texts of users', async () => {
  const lines: string[] = [];
  const logging = new MemoryRouter(embeddings, { backend, topK: 3, threshold: -1, log: (line) => lines.push(line) });
  const dimensions = await embeddings.dimension();
  const made = `index made: ${backend.name} ${backend.version}, ${dimensions} dimensions`;
  await logging.addMemories(['a', 'b', 'c'].map((memoryId) => ({ memoryId, userId: 'ann', content: memoryId })));
  await logging.addMemory({ memoryId: 'a', userId: 'bob', content: 'tea' });
  expect(lines).toEqual([made, 'memories added: 3', made, 'memories added: 1']);
  logging.removeMemory('a', 'ann');
  await logging.search('tea', { userId: 'ann' });
  await logging.search('tea', { userId: 'ann' });
  logging.rebuildIndex();
  expect(lines.slice(4)).toEqual([2, 2, 1].map((vectors) => `index rebuilt, vectors: ${vectors}`));
});

test('a memory without content is similar to nothing, and a query without content finds nothing', async () => {
  await router.addMemories(['  ', 'tea'].map((content) => ({ memoryId: content, content })));
  expect(await router.search(' \n')).toEqual([]);
  expect((await router.search('tea')).map(({ score }) => score)).toEqual([expect.closeTo(1, 6), 0]);
});

test('refuses vectors of another embedder, and then adds none of the batch', async () => {
  const good = { memoryId: 'good', content: 'tea' };
  const add = (embedding: Float32Array) =>
    router.addMemories([good, { memoryId: 'bad', content: 'coffee', embedding }]);
  await expect(add(new Float32Array(3))).rejects.toThrow("memory 'bad' has a vector of 3 numbers");
  await expect(add(new Float32Array(await embeddings.dimension()).fill(NaN))).rejects.toThrow('not all finite');
  expect(router.listMemories()).toEqual([]);
});

test('behaves as a plain list does under any sequence of adding, replacing, removing and searching', async () => {
  const dimension = await embeddings.dimension();
  const query = await embeddings.embed('tea');
  const user = fc.constantFrom('ann', 'bob', undefined);
  const memoryId = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  // Few directions, so that equal scores are common.
  const vector = fc.nat(3).map((axis) => Float32Array.from({ length: dimension }, (_, i) => (i === axis ? 1 : 0)));
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), user, memoryId, vector }),
    fc.record({ kind: fc.constant('remove' as const), user, memoryId }),
    fc.record({ kind: fc.constant('search' as const), user, topK: fc.integer({ min: 0, max: 6 }) }),
  );
  const sequence = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const tested = new MemoryRouter(embeddings, { backend, topK: 3, threshold: -1 });
    let plain: { user: string | undefined; memoryId: string; vector: Float32Array }[] = [];
    for (const action of steps) {
      if (action.kind === 'search') {
        const expected = plain
          .filter((memory) => memory.user === action.user)
          .map(({ memoryId: id, vector: own }) => ({ memoryId: id, score: innerProduct(own, query) }))
          .sort((a, b) => b.score - a.score)
          .slice(0, action.topK)
          .map((memory): unknown => ({ ...memory, score: expect.closeTo(memory.score, 6) as number }));
        const found = await tested.search('tea', { userId: action.user, topK: action.topK });
        expect(found.map(({ memoryId: id, score }) => ({ memoryId: id, score }))).toEqual(expected);
        continue;
      }
      const isIt = (memory: (typeof plain)[number]) =>
        memory.user === action.user && memory.memoryId === action.memoryId;
      const known = plain.some(isIt);
      plain = plain.filter((memory) => !isIt(memory));
      if (action.kind === 'remove') {
        expect(tested.removeMemory(action.memoryId, action.user)).toBe(known);
      } else {
        plain.push(action);
        const { vector: embedding, user: userId } = action;
        await tested.addMemory({ memoryId: action.memoryId, userId, content: action.memoryId, embedding });
      }
    }
    expect(tested.stats()).toMatchObject({ memories: plain.length });
  });
  await fc.assert(sequence, { numRuns: 200, seed: 7 });
});
