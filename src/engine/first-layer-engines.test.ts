import { expect, it } from 'vitest';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { firstLayerEngines } from './first-layer-engines.ts';

const engine = await fakeAdapter.opener({}).open({ model: 'fake' });

it('one caller may give up an engine that others wait for', async () => {
  const opened = Promise.withResolvers<typeof engine>();
  let calls = 0;
  await using engines = firstLayerEngines(4, () => {
    calls++;
    return opened.promise;
  });
  const given = new AbortController();
  const first = engines.open(2, { signal: given.signal });
  const second = engines.open(2);
  given.abort(new Error('gave up'));
  opened.resolve(engine);
  await expect(first).rejects.toThrow('gave up');
  expect([await second, await engines.open(2), calls]).toEqual([engine, engine, 1]);
});

it('opens again after a failure', async () => {
  const results = [Promise.reject(new Error('no memory')), Promise.resolve(engine)];
  await using engines = firstLayerEngines(4, () => results.shift()!);
  await expect(engines.open(2)).rejects.toThrow('no memory');
  expect(await engines.open(2)).toBe(engine);
});
