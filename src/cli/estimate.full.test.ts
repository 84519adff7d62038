import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { runProgram } from './program.ts';

const folder = folderOfEachTest();

it('draws the map of an 8B model in the pages, and prints its numbers', async () => {
  using out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const file = folder.file('map.svg');
  await runProgram(['estimate', '--map', file, '--shape', '8b', '--json']);
  expect(readFileSync(file, 'utf8')).toBe(readFileSync('reports/reuse/map-8b.svg', 'utf8'));
  const map = JSON.parse(out.mock.calls.map(([part]) => String(part)).join('')) as {
    arm: string;
    room: string;
    memories: number;
    memoryTokens: number;
    ms: number;
  }[];
  const ms = (arm: string, room: string, memories: number): number =>
    map.find(
      (cell) => cell.arm === arm && cell.room === room && cell.memories === memories && cell.memoryTokens === 4096,
    )!.ms;
  // A prefix cache is fast where all memories of a user come back, and blocks also where they recombine.
  expect(ms('rag-cached', 'memory', 5)).toBeLessThan(0.1 * ms('rag', 'memory', 5));
  expect(ms('rag-cached', 'memory', 100)).toBeGreaterThan(0.8 * ms('rag', 'memory', 100));
  expect(ms('dki-blocks', 'memory', 100)).toBeLessThan(0.3 * ms('rag', 'memory', 100));
  expect(ms('rag-cached + disk', 'disk', 5)).toBeLessThan(ms('rag-cached', 'disk', 5));
});

it('draws the map of the README, from measured times and answers', async () => {
  using _ = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const file = folder.file('map.svg');
  const measured = [
    '--costs',
    'reports/length/qwen2.5-coder-0.5b/results.json',
    '--quality',
    'reports/ladder/qwen2.5-coder-0.5b,reports/ruler/qwen2.5-coder-0.5b-2k,reports/ruler/qwen2.5-coder-0.5b-4k',
  ];
  await runProgram(['estimate', '--map', file, '--shape', 'qwen2.5-0.5b', ...measured]);
  expect(readFileSync(file, 'utf8')).toBe(readFileSync('reports/reuse/map-0.5b.svg', 'utf8'));
});
