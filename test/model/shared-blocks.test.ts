import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { answeredTurns } from './finished-run.ts';
import { passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

it('an arm that takes blocks of another arm is charged as if it ran alone', async () => {
  using folder = new TestFolder();
  const bench = async (run: string, arms: string) => {
    const config = smallConfig(folder, { arms, run, users: '10', limit: '4' });
    const [results] = await runBench(config);
    const turns = answeredTurns(config, run, 'dki-link:4');
    const facts = turns.map(({ itemId, answer, tokens, account, scores }) => {
      const { selection, selector: _, ...counted } = account;
      return { itemId, answer, tokens, scores, counted, selected: selection?.selected };
    });
    return { passed: passedChecks(results!), turns, facts };
  };
  const alone = await bench('alone', 'rag,dki-link:4');
  const together = await bench('together', 'rag,dki-blocks,dki-link:4');
  const counted = ['token identity', 'token accounting', 'cells', 'answers', 'scores'];
  for (const { passed } of [alone, together]) expect(passed).toEqual(expect.arrayContaining(counted));
  expect(together.facts).toEqual(alone.facts);
  const misses = together.turns.filter(({ account }) => account.built > 0);
  expect(misses.length).toBeGreaterThan(0);
  for (const { timings } of misses) expect(timings.firstToken).toBeGreaterThan(timings.kvCompute);
});
