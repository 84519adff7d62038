import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { failedChecks, passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const proven = ['numerical parity', 'token accounting', 'token identity', 'answers', 'sample', 'errors'];

it.each([
  ['tiny-qwen3moe', 'rag,rag-cached,dki,dki-resident,dki-blocks,dki-link:4,dki-parallel', '1024'],
  ['tiny-gemma3', 'rag,rag-cached,dki,dki-resident', '1024'],
  ['tiny-gemma3', 'rag,dki,dki-resident,dki-blocks,dki-link:4,dki-parallel,dki-blocks-evict-knorm:.5', '512'],
  ['tiny-gemma3-window-32', 'rag,rag-cached,dki,dki-resident', '1024'],
  ['tiny-lfm2', 'rag,rag-cached,dki,dki-resident', '1024'],
])('on %s, %s run, and the exact ones have the bits of text, on cache hits too', async (shape, arms, contextTokens) => {
  using folder = new TestFolder();
  const config = smallConfig(folder, { model: `random:${shape}`, arms, run: 'exact', contextTokens });
  const [results] = await runBench(config);
  expect(failedChecks(results!)).toEqual([]);
  expect(passedChecks(results!)).toEqual(expect.arrayContaining(proven));
  if (arms.includes('rag-cached')) expect(passedChecks(results!)).toContain('reuse');
  if (arms.includes('dki-blocks')) expect(passedChecks(results!)).toContain('cells');
  const turns = answeredTurns(config, 'exact');
  const exact = turns.filter(({ arm }) => ['rag-cached', 'dki', 'dki-resident'].includes(arm));
  expect(exact.filter(({ observed }) => observed.parity?.bitwiseEqual !== true)).toEqual([]);
  for (const arm of ['dki', 'dki-resident'])
    expect(exact.filter((turn) => turn.arm === arm && turn.account.cache === 'hit').length).toBeGreaterThan(0);
});
