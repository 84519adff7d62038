import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import type { TrafficEstimate } from '../report/traffic-estimate.ts';
import { runProgram } from './program.ts';

const folder = folderOfEachTest();

/** What a command line writes to standard output, or the first line of its error. */
async function run(...words: readonly string[]): Promise<string> {
  using out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  using failure = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await runProgram(['estimate', ...words]);
  process.exitCode = undefined;
  const text = (calls: readonly (readonly unknown[])[]): string => calls.map(([part]) => String(part)).join('');
  return text(failure.mock.calls).split('\n')[0]! || text(out.mock.calls);
}

const traffic = 'users=3,memories=6,retrieved=2,turns=200,memoryTokens=100';

it('prints a table with what it assumed, and draws a figure', async () => {
  const figure = folder.file('estimate.svg');
  const shown = await run('--traffic', traffic, '--shape', '8b', '--ram', '1GiB', '--disk', '0', '--figure', figure);
  expect(shown).toMatch(/^Estimate for generated, seed 7 on 8b\n/);
  expect(shown).toMatch(/rag-cached@order=stable +\d+/);
  expect(shown.replaceAll(/\s+/g, ' ')).toContain('200 turns of 3 users in 40 conversations');
  expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
    /Fastest: dki-blocks \(0\.\d+ × rag\), but joined blocks change answers: .+ Of arms with the KV of text: rag-cached/,
  );
  expect(shown.replaceAll(/\s+/g, ' ')).toContain('Assumed: 6227 tokens evaluated per second (100 TFLOP/s, 8.0 B');
  expect(readFileSync(figure, 'utf8')).toContain('Estimated time to first token: generated, seed 7 on 8b');
});

it('takes sizes and speeds as they are given', async () => {
  const estimate = async (...words: readonly string[]): Promise<TrafficEstimate> =>
    JSON.parse(
      await run('--traffic', traffic, '--shape', '8b', '--prefill', '1000', '--json', ...words),
    ) as TrafficEstimate;
  const [small, large] = [await estimate('--ram', '10MB', '--read', '1MB/s'), await estimate('--ram', '1TiB')];
  const blocks = ({ arms }: TrafficEstimate) => arms.find(({ arm }) => arm === 'dki-blocks')!;
  // 18 memories of 100 tokens, 13 MB each.
  expect(blocks(small)).toMatchObject({ perTurn: { memory: 0 } });
  expect(blocks(small).meanMs).toBeGreaterThan(10_000);
  expect(blocks(large)).toMatchObject({ perTurn: { disk: 0 }, readBytes: 0 });
  expect(small.breakEven.tokens.disk).toBeNull();
});

it('drops what the policy says, and says so', async () => {
  const estimate = (policy: string) =>
    run('--traffic', `${traffic},zipf=1.2`, '--shape', '8b', '--ram', '40MB', '--disk', '0', '--policy', policy);
  const [lru, both] = [await estimate('lru'), await estimate('cost-recency')];
  expect(lru.replaceAll(/\s+/g, ' ')).toContain('full caches drop what is longest unused');
  expect(both.replaceAll(/\s+/g, ' ')).toContain('full caches drop what is cheap to evaluate again and long unused');
});

it.each([
  [['--shape', '8b'], 'no traffic is named'],
  [
    ['--traffic', traffic, '--trace', 't.jsonl', '--shape', '8b'],
    "option '--traffic <values>' cannot be used with option '--trace <file>'",
  ],
  [
    ['--traffic', traffic, '--map', 'm.svg', '--shape', '8b'],
    "option '--map <file>' cannot be used with option '--traffic <values>'",
  ],
  [
    ['--map', 'm.svg', '--shape', '8b', '--ram', '1GB'],
    "option '--map <file>' cannot be used with option '--ram <size>'",
  ],
  [
    ['--map', 'm.svg', '--shape', '8b', '--quality', 'reports/ladder/smollm2-135m'],
    '--quality reports/ladder/smollm2-135m: a run of smollm2-135m, and the map is of 8b',
  ],
  [['--map', 'm.svg', '--shape', '8b', '--quality', 'nowhere'], '--quality nowhere: no such file or folder'],
  [['--traffic', traffic], 'no model is named'],
  [['--traffic', 'user=3', '--shape', '8b'], '--traffic: user is not a field of this record: did you mean users?'],
  [['--traffic', 'users=many', '--shape', '8b'], '--traffic: users expected number, got "many"'],
  [['--traffic', traffic, '--shape', '8b', '--ram', '3GB/s'], '--ram "3GB/s": expected a size'],
  [['--traffic', traffic, '--shape', '8b', '--read', '3GB'], '--read "3GB": expected a speed'],
  [['--traffic', traffic, '--shape', '8b', '--prefill', 'fast'], '--prefill fast: expected tokens per second'],
  [
    ['--traffic', traffic, '--shape', '8b', '--costs', 'r.json', '--copy', '1GB/s'],
    "option '--costs <file>' cannot be used with option '--copy <speed>'",
  ],
])('refuses %j', async (words, message) => {
  expect(await run(...words)).toBe(`error: ${message}`);
});

it('says in one line that a figure cannot be written', async () => {
  const shown = await run('--traffic', traffic, '--shape', '8b', '--figure', folder.path);
  expect(shown).toContain(`error: ${folder.path} cannot be written: `);
});
