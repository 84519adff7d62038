import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { KvStore } from '../../src/kv/kv-disk-store.ts';
import { CheckpointFiles } from '../fixtures/checkpoint-files.ts';
import { program, runProcess, startProcess, typescript } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const script = join(import.meta.dirname, '../fixtures/keep-states.ts');
const random = new SeededRandom(5);
const keys = ['0', '1', '2'].map((key) => key.padStart(64, '0'));

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[a-z]+$/.test(name));
const endingIn = (files: readonly string[], ending: RegExp): number => files.filter((name) => ending.test(name)).length;

/** Starts to keep states, the first of a kind by its number, and is killed for good while it keeps one of the next four. */
async function killedWriter(folder: TestFolder, bytes: number, first: number): Promise<void> {
  const { child, ended } = startProcess([...typescript, script, folder.path, `${bytes}`, `${first}`]);
  const [firstMs] = (await once(child.stdout, 'data')) as [string];
  await wait(random.float() * 4 * Number(firstMs));
  child.kill('SIGKILL');
  expect(await ended).toMatchObject({ code: null, stderr: '' });
  expect(child.signalCode).toBe('SIGKILL');
}

/** The states that are kept, each of which must be one that was written, whole. */
async function statesOf(store: KvStore, checkpoints: CheckpointFiles, bytes: number) {
  const requireWhole = (state: Uint8Array): void => {
    expect(state.length).toBe(bytes);
    expect(Buffer.compare(state, Buffer.alloc(bytes, state[0]))).toBe(0);
  };
  let blocks = 0;
  const ids: string[] = [];
  for (const key of keys) {
    const block = await store.findBlock('ann', key);
    const checkpoint = await store.findCheckpoint('ann', key);
    if (block !== undefined) {
      blocks++;
      requireWhole(block.bytes);
    }
    if (checkpoint !== undefined) {
      ids.push(checkpoint.id);
      requireWhole(checkpoints.read(checkpoint));
    }
  }
  return { blocks, ids };
}

describe('a process that is killed', () => {
  it.each([2 ** 25, 1000])(
    'while it keeps states of %i bytes leaves each of them whole or not at all',
    async (bytes) => {
      using folder = new TestFolder();
      const root = folder.file('store');
      let [unfinished, found] = [0, { blocks: 0, checkpoints: 0 }];
      for (let kill = 0; kill < 6; kill++) {
        await killedWriter(folder, bytes, kill);
        unfinished += endingIn(filesIn(root), /\.new$/);
        const checkpoints = new CheckpointFiles(folder.file('engine'));
        const store = await KvStore.open(root, 2 ** 40, checkpoints);
        const { blocks, ids } = await statesOf(store, checkpoints, bytes);
        found = { blocks: found.blocks + blocks, checkpoints: found.checkpoints + ids.length };
        const entries = blocks + ids.length;
        expect(store.stats()).toMatchObject({ rejected: 0, entries, sizeBytes: entries * bytes });
        const files = filesIn(root);
        const endings = [/\.block$/, /\.checkpoint$/, /\.json$/].map((ending) => endingIn(files, ending));
        expect([...endings, files.length]).toEqual([blocks, ids.length, entries, 2 * entries]);
        // The engine has the bytes of these checkpoints, and of no other.
        expect(checkpoints.ids().sort()).toEqual(ids.sort());
      }
      expect(found.blocks).toBeGreaterThan(3);
      expect(found.checkpoints).toBeGreaterThan(3);
      // Else no kill ever came in the middle of a write, and nothing was tried.
      if (bytes > 1e6) expect(unfinished).toBeGreaterThan(0);
    },
  );

  it('in runs on one KV store leaves nothing that a later run would stumble over', async () => {
    using folder = new TestFolder();
    const arms = ['--users', '10', '--limit', '8', '--arms', 'rag,dki,dki-blocks', '--quiet', '--kv-store', 'kv'];
    const bench = [...program, 'bench', ...arms];
    for (const run of ['killed-0', 'killed-1']) await killedRun([...bench, '--run', run], folder);
    const last = await runProcess([...bench, '--run', 'last', '--json'], { cwd: folder.path });
    expect([last.code, last.stderr.includes('error')]).toEqual([0, false]);
    const { arms: results, run } = JSON.parse(last.stdout) as RunResults;
    expect(results.map(({ n, errors }) => `${n} ${errors}`)).toEqual(Array(3).fill('10 0'));
    expect(run.kvStores).toMatchObject({ dki: { rejected: 0 }, 'dki-blocks': { disk: { rejected: 0 } } });
    expect(endingIn(filesIn(folder.file('kv')), /\.(?:new|partial)$/)).toBe(0);
  });
});

/** A run that is killed at a random moment after it has begun to keep KV. */
async function killedRun(command: readonly string[], folder: TestFolder): Promise<void> {
  const { child, ended } = startProcess(command, { cwd: folder.path });
  const before = filesOfStore(folder);
  while (child.exitCode === null && filesOfStore(folder) === before) await wait(20);
  await wait(random.float() * 300);
  child.kill('SIGKILL');
  await ended;
}

const filesOfStore = (folder: TestFolder): number =>
  existsSync(folder.file('kv')) ? filesIn(folder.file('kv')).length : 0;
