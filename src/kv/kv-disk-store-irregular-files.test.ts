import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { irregularFiles } from '../../test/fixtures/irregular-files.ts';
import { kvKinds, StoreFolder, testKey as key } from '../../test/fixtures/store-folder.ts';

const folder = new StoreFolder();

describe.each(kvKinds(folder))('a store of $kind', ({ keep, find }) => {
  describe.each(['.json', '.block', '.checkpoint'])('with something else in place of its %s', (ending) => {
    it.each(irregularFiles)('%s: computes it again and goes on', async (_, make) => {
      const store = await folder.open();
      await keep(store, 'ann', key(1), 'state', 7, ['m1']);
      const path = folder.files().find((file) => file.endsWith(ending));
      // Blocks have no mark, checkpoints no bytes of their own.
      if (path === undefined) return;
      rmSync(path);
      make(path);
      const next = await folder.open();
      for (const one of [store, next]) {
        const found = await find(one, 'ann', key(1));
        // Nobody reads a mark.
        if (ending !== '.checkpoint') expect(found).toBeUndefined();
        await keep(one, 'ann', key(1), 'again', 7, ['m1']);
        expect(await find(one, 'ann', key(1))).toBe('again');
        expect(await one.forgetMemory('ann', 'm1')).toBe(1);
      }
      await next.clear();
      expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
    });
  });
});
