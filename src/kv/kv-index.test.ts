import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { testKey } from '../../test/fixtures/store-folder.ts';
import { KvIndex } from './kv-index.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('takes no more memory when an entry is found again', () => {
  const index = new KvIndex('nowhere', 1000);
  const entry = { key: testKey(1), payload: `${testKey(1)}.block`, sizeBytes: 5, tokens: 7, memoryIds: ['m1'] };
  index.wasFound(index.folder('ann'), entry);
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  for (let time = 0; time < 100_000; time++) index.wasFound(index.folder('ann'), { ...entry });
  collectGarbage();
  expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(5e6);
  expect(index.stats()).toMatchObject({ entries: 1, sizeBytes: 5 });
});
