import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { failedChecks, passedChecks, TestFolder } from '../model/bench-fixture.ts';

const names = ['rag', 'rag-cached', 'dki', 'dki-blocks'];
/** Arms that keep files; a prefix cache keeps its KV in memory. */
const keeping = ['dki', 'dki-blocks'];
/** Four prefixes of a hundred tokens, or some twenty blocks: far less than ten users fill. */
const boundKib = 400;

it('two runs at once on one KV store and one database both end well, within the bound of the store', async () => {
  using folder = new TestFolder();
  const words = ['--users', '10', '--limit', '8', '--arms', names.join(), '--quiet', '--json'];
  const shared = [...words, '--kv-store', 'kv', '--kv-bytes', `${boundKib}KiB`];
  const ended = await Promise.all(
    ['one', 'two'].map((run) => runProcess([...program, 'bench', ...shared, '--run', run], { cwd: folder.path })),
  );
  for (const { code, stdout, stderr } of ended) {
    expect([code, stderr.match(/error.*/g)]).toEqual([0, null]);
    const results = JSON.parse(stdout) as RunResults;
    // No KV of another user, memory or position: the ids, the bits and the answers of the text, and no secret told.
    expect(passedChecks(results)).toEqual(expect.arrayContaining(['token identity', 'numerical parity', 'isolation']));
    expect(failedChecks(results)).toEqual([]);
    expect(results.arms.map(({ n, errors }) => [n, errors])).toEqual(names.map(() => [10, 0]));
    const [rag, cached, dki] = results.arms.map(({ metrics }) => metrics.exactMatch);
    expect([cached, dki]).toEqual([rag, rag]);
  }
  const inStore = (path: string): string[] =>
    readdirSync(folder.file(join('kv', path)), { recursive: true, encoding: 'utf8' });
  const sizeOf = (path: string): number => statSync(folder.file(join('kv', path))).size;
  const marked: string[] = [];
  for (const arm of keeping) {
    const files = inStore(arm);
    const blocks = files.filter((name) => name.endsWith('.block'));
    const ids = files.flatMap((name) => /\.([^.]+)\.checkpoint$/.exec(name)?.[1] ?? []);
    const bytes = [
      ...blocks.map((name) => sizeOf(join(arm, name))),
      ...ids.map((id) => sizeOf(join('checkpoints', `${id}.state`))),
    ];
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(boundKib * 1024);
    expect(files.filter((name) => name.endsWith('.json'))).toHaveLength(bytes.length);
    expect(files.filter((name) => /\.(?:new|partial)$/.test(name))).toEqual([]);
    marked.push(...ids.map((id) => `${id}.state`));
  }
  expect(inStore('rag-cached')).toEqual([]);
  // The engine has no bytes that no store accounts for.
  expect(inStore('checkpoints').sort()).toEqual(marked.sort());
});
