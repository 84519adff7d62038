import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ArmResults, RunResults } from '../../src/eval/results.ts';
import { program, runProcess } from '../fixtures/bench-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const names = ['rag', 'rag-cached', 'dki', 'dki-blocks'];
const keeping = names.slice(1);
/** Four prefixes of a hundred tokens, or some twenty blocks: far less than eight users fill. */
const boundKib = 400;

it('two runs at once on one K/V store and one database both end well, within the bound of the store', async () => {
  using folder = new TestFolder();
  const words = ['--limit', '8', '--arms', names.join(), '--quiet', '--json'];
  const shared = [...words, '--kv-store', 'kv', '--kv-bytes', `${boundKib}KiB`];
  const ended = await Promise.all(
    ['one', 'two'].map((run) => runProcess([...program, 'bench', ...shared, '--run', run], { cwd: folder.path })),
  );
  for (const { code, stdout, stderr } of ended) {
    expect([code, stderr.match(/error.*/g)]).toEqual([0, null]);
    const results = JSON.parse(stdout) as RunResults;
    // No K/V of another user, memory or position: the ids, the bits and the answers of the text, and no secret told.
    expect(results.gates.map(({ gate }) => gate)).toEqual(expect.arrayContaining(['identity', 'parity', 'isolation']));
    expect(results.gates.filter(({ held }) => !held)).toEqual([]);
    expect(results.arms.map(({ n, errors }) => [n, errors])).toEqual(names.map(() => [8, 0]));
    const [rag, ...others] = results.arms as [ArmResults, ...ArmResults[]];
    for (const { arm, metrics } of others) {
      if (arm !== 'dki-blocks') expect(metrics.exactMatch).toEqual(rag.metrics.exactMatch);
    }
  }
  for (const arm of keeping) {
    const files = readdirSync(folder.file(join('kv', arm)), { recursive: true, encoding: 'utf8' });
    const states = files.filter((name) => name.endsWith('.state'));
    const bytes = states.map((name) => statSync(folder.file(join('kv', arm, name))).size);
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(boundKib * 1024);
    expect(files.filter((name) => name.endsWith('.json'))).toHaveLength(states.length);
    expect(files.filter((name) => /\.(?:new|partial)$/.test(name))).toEqual([]);
  }
});
