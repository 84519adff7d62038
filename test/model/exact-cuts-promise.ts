import { expect } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const arms = 'rag,rag-cached,dki,dki-resident,dki-blocks';

export const weightTypes = ['f16', 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q4_k', 'q5_k', 'q6_k'];

/** Runs exact arms on a model with random weights of a type: all of them must have the bits of text. */
export async function expectExactArms(type: string, threads: number): Promise<void> {
  using folder = new TestFolder();
  const model = `random:small-llama:${type}`;
  const flags = { model, arms, threads: String(threads), users: '10', limit: '3', run: 'exact', contextTokens: '1024' };
  const config = smallConfig(folder, flags);
  const [results] = await runBench(config);
  const proven = ['numerical parity', 'token accounting', 'token identity', 'answers', 'cells'];
  expect(passedChecks(results!)).toEqual(expect.arrayContaining(proven));
  const turns = answeredTurns(config, 'exact');
  const compared = turns.filter(({ observed }) => observed.parity !== null);
  expect(compared.length).toBeGreaterThan(0);
  expect(compared.filter(({ observed }) => !observed.parity!.bitwiseEqual)).toEqual([]);
  const injected = turns.filter(({ arm, account }) => arm === 'dki' && account.cache !== 'bypass');
  for (const { account, tokens } of injected) expect(account.positions - tokens.prompt).toBe(account.resident);
  // Only weights whose rows are grouped leave tokens of a prefix to the suffix.
  if (type !== 'q4_k') expect(injected.filter(({ account }) => account.remainder !== undefined)).toEqual([]);
}
