import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { failedChecks, passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const proven = ['numerical parity', 'token accounting', 'token identity', 'reuse', 'answers', 'sample', 'errors'];

it.each([
  ['tiny-qwen3moe', 'rag,rag-cached,dki,dki-resident,dki-blocks,dki-link:4,dki-parallel'],
  ['tiny-gemma3', 'rag,rag-cached,dki,dki-resident'],
  ['tiny-gemma3-window-32', 'rag,rag-cached,dki,dki-resident'],
  ['tiny-lfm2', 'rag,rag-cached,dki,dki-resident'],
])('on %s, %s run, and the exact ones have the bits of text, on cache hits too', async (shape, arms) => {
  using folder = new TestFolder();
  const config = smallConfig(folder, { model: `random:${shape}`, arms, run: 'exact', contextTokens: '1024' });
  const [results] = await runBench(config);
  expect(failedChecks(results!)).toEqual([]);
  expect(passedChecks(results!)).toEqual(expect.arrayContaining(proven));
  const turns = answeredTurns(config, 'exact');
  const exact = turns.filter(({ arm }) => ['rag-cached', 'dki', 'dki-resident'].includes(arm));
  expect(exact.filter(({ observed }) => observed.parity?.bitwiseEqual !== true)).toEqual([]);
  for (const arm of ['dki', 'dki-resident'])
    expect(exact.filter((turn) => turn.arm === arm && turn.account.cache === 'hit').length).toBeGreaterThan(0);
});
