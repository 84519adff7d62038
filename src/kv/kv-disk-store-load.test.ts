import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProcess, typescript } from '../../test/fixtures/run-process.ts';
import { StoreFolder } from '../../test/fixtures/store-folder.ts';

const folder = new StoreFolder();

it.each(['blocks', 'checkpoints'])(
  'two processes that keep %s in one folder survive each other under load',
  async (kind) => {
    const script = `
    import { CheckpointFiles } from ${JSON.stringify(new URL('../../test/fixtures/checkpoint-files.ts', import.meta.url).href)};
    import { KvStore } from ${JSON.stringify(new URL('./kv-disk-store.ts', import.meta.url).href)};
    const [, , root, engine, seed] = process.argv;
    const files = new CheckpointFiles(engine);
    const store = await KvStore.open(root, 4000, files);
    const find = async (key) => {
      if (${kind === 'blocks'}) return (await store.findBlock('ann', key))?.bytes;
      const checkpoint = await store.findCheckpoint('ann', key);
      try {
        return checkpoint && files.read(checkpoint);
      } catch {
        await store.reject('ann', key);
      }
    };
    let found = 0;
    for (let turn = 0; turn < 300; turn++) {
      const id = (turn * turn + Number(seed) * 3) % 11;
      const key = id.toString(16).padStart(64, '0');
      const content = id + ' '.repeat(700);
      const state = await find(key);
      if (state === undefined) {
        if (${kind === 'blocks'}) await store.keepBlock({ userId: 'ann', key, tokens: 7, memoryIds: ['m' + id] }, Buffer.from(content));
        else await store.keepCheckpoint('ann', key, ['m' + id], (name) => files.make(name, content));
      } else if (++found && !Buffer.from(state).toString().startsWith(id + ' ')) throw new Error('a foreign state');
      if (turn % 10 === 9) await store.forgetMemory('ann', 'm' + id);
    }
    console.log(JSON.stringify({ found, ...store.stats() }));
  `;
    const file = join(folder.path, 'load.mts');
    writeFileSync(file, script);
    const outputs = await Promise.all(
      [1, 2].map((seed) => runProcess([...typescript, file, folder.root, join(folder.path, 'engine'), `${seed}`])),
    );
    for (const { code, stdout, stderr } of outputs) {
      expect([code, stderr]).toEqual([0, '']);
      const counts = JSON.parse(stdout) as { readonly found: number; readonly sizeBytes: number };
      expect(counts.found).toBeGreaterThan(0);
      expect(counts.sizeBytes).toBeLessThanOrEqual(4000);
    }
    const blocks = folder.files().filter((name) => name.endsWith('.block'));
    const bytes = blocks.reduce((sum, path) => sum + statSync(path).size, folder.checkpoints.sizeBytes());
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(4000);
    expect(folder.files().filter((name) => name.endsWith('.new'))).toEqual([]);
    // No bytes without a record, and no record without bytes.
    const store = await folder.open(4000);
    const marks = folder.files().filter((name) => name.endsWith('.checkpoint'));
    expect(store.stats()).toMatchObject({ entries: blocks.length + marks.length, sizeBytes: bytes });
    expect(folder.checkpoints.ids()).toHaveLength(marks.length);
  },
);
