import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/eval/random.ts';
import type { RunResults } from '../../src/eval/results.ts';
import { StateStore } from '../../src/kv/state-store.ts';
import { program, runProcess } from '../fixtures/bench-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const script = join(import.meta.dirname, '../fixtures/keep-states.ts');
const random = new SeededRandom(5);
const keys = ['0', '1', '2'].map((key) => key.padStart(64, '0'));

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[a-z]+$/.test(name));
const endingIn = (files: readonly string[], ending: RegExp): number => files.filter((name) => ending.test(name)).length;

/** Starts to keep states, and is killed for good within the time given after the first. */
async function killedWriter(root: string, bytes: number, withinMs: number): Promise<void> {
  const words = ['--import', import.meta.resolve('tsx'), script, root, String(bytes)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  await wait(random.float() * withinMs);
  child.kill('SIGKILL');
  expect((await ended)[1]).toBe('SIGKILL');
}

describe('a process that is killed', () => {
  it.each([
    { what: 'large states', bytes: 2 ** 25, withinMs: 300 },
    { what: 'small states', bytes: 1000, withinMs: 20 },
  ])('while it keeps $what leaves each of them whole or not at all', async ({ bytes, withinMs }) => {
    using folder = new TestFolder();
    const root = folder.file('store');
    let [unfinished, found] = [0, 0];
    for (let kill = 0; kill < 6; kill++) {
      await killedWriter(root, bytes, withinMs);
      unfinished += endingIn(filesIn(root), /\.new$/);
      const store = new StateStore(root, 2 ** 40);
      const states = keys.map((key) => store.read('ann', key)).filter((state) => state !== undefined);
      for (const { bytes: state } of states) {
        expect(state.length).toBe(bytes);
        expect(Buffer.compare(state, Buffer.alloc(bytes, state[0]))).toBe(0);
      }
      found += states.length;
      const files = filesIn(root);
      expect(store.stats()).toMatchObject({ rejected: 0, entries: states.length, sizeBytes: states.length * bytes });
      expect(endingIn(files, /\.state$/)).toBe(states.length);
      expect(endingIn(files, /\.json$/)).toBe(states.length);
      expect(files).toHaveLength(2 * states.length);
    }
    expect(found).toBeGreaterThan(6);
    // Else no kill ever came in the middle of a write, and nothing was tried.
    if (bytes > 1e6) expect(unfinished).toBeGreaterThan(0);
  });

  it('in runs on one K/V store leaves nothing that a later run would stumble over', async () => {
    using folder = new TestFolder();
    const arms = ['--limit', '8', '--arms', 'rag,dki,dki-blocks', '--quiet', '--kv-store', 'kv'];
    const bench = [...program, 'bench', ...arms];
    for (let kill = 0; kill < 2; kill++) {
      await killedRun([...bench, '--run', `killed-${kill}`], folder);
    }
    const last = await runProcess([...bench, '--run', 'last', '--json'], { cwd: folder.path });
    expect([last.code, last.stderr.includes('error')]).toEqual([0, false]);
    const { arms: results, run } = JSON.parse(last.stdout) as RunResults;
    expect(results.map(({ n, errors }) => [n, errors])).toEqual([
      [8, 0],
      [8, 0],
      [8, 0],
    ]);
    expect(run.kvStores).toMatchObject({ dki: { disk: { rejected: 0 } }, 'dki-blocks': { disk: { rejected: 0 } } });
    expect(endingIn(filesIn(folder.file('kv')), /\.(?:new|partial)$/)).toBe(0);
  });
});

/** A run that is killed at a random moment after it has begun to keep K/V. */
async function killedRun(command: readonly string[], folder: TestFolder): Promise<void> {
  const child = spawn(command[0]!, command.slice(1), { cwd: folder.path, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const before = statesOf(folder);
  while (child.exitCode === null && statesOf(folder) === before) await wait(20);
  await wait(random.float() * 300);
  child.kill('SIGKILL');
  await ended;
}

function statesOf(folder: TestFolder): number {
  try {
    return filesIn(folder.file('kv')).length;
  } catch {
    return 0;
  }
}
