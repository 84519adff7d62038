import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/compose.ts';
import { smallConfig, TestFolder } from '../model/bench-fixture.ts';

const flags = { retriever: 'tiered', arms: 'none,rag', run: 'tiered', limit: '8' };

it.each([
  [
    { hot: 'redis://me:secret@127.0.0.1:1' },
    'database',
    'redis://127.0.0.1:1: connecting failed: connect ECONNREFUSED',
  ],
  [
    { cold: 'postgres://me:secret@127.0.0.1:1/x' },
    'database',
    'postgres://127.0.0.1:1/x: opening long-term memory failed',
  ],
  [{ hot: 'secret' }, 'bad-option', '--hot: not a valid server URL'],
])('ends with one line where a store cannot be had: %j', async (stores, code, message) => {
  using folder = new TestFolder();
  const run = runBench(smallConfig(folder, { ...flags, ...stores }));
  await expect(run).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  await expect(run).rejects.not.toThrow('secret');
  expect(readdirSync(folder.path)).toEqual([]);
});
