import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

function benchTtft(...options: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const script = join(root, 'scripts', 'bench-ttft.ts');
  const tsx = join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  return spawnSync(process.execPath, [tsx, script, '--model', 'random:tiny-llama', ...options], { encoding: 'utf8' });
}

test('every way to the first token stands in the table, with what it evaluated, and exact ones agree', () => {
  const { status, stdout } = benchTtft('--memory-tokens', '300', '--query-tokens', '20', '--rounds', '1');
  expect(status).toBe(0);
  const [, prefix, suffix] = /a prefix of (\d+) tokens, (\d+) tokens behind it/.exec(stdout)!.map(Number);
  const rows = stdout.split('\n').map((line) => line.split('│').map((cell) => cell.trim()));
  const evaluated = Object.fromEntries(rows.filter((cells) => cells.length > 6).map((cells) => [cells[1], cells[6]]));
  const whole = String(prefix! + suffix!);
  expect(evaluated).toMatchObject({
    'the query, its prefix in place': String(suffix),
    'dki, seen': String(suffix),
    'dki-blocks, seen': String(suffix),
    'dki-blocks, seen, in another order': String(suffix),
    'dki-parallel, seen': String(suffix),
    'rag, cold': whole,
    'dki, new': whole,
    'dki-blocks, new': whole,
  });
  expect(stdout).toContain('the same first token in 5 of 5 answers');
  expect(stdout).toContain('no llama-server was named (--peer PATH)');
});

test('a mistake ends in one line and what to do about it, exit 2', () => {
  expect(benchTtft('--rounds', 'many')).toMatchObject({
    status: 2,
    stderr: '--rounds expected a whole number from 1, got "many"\nwrite --rounds 7, for example\n',
  });
  const missing = benchTtft('--peer', join(root, 'no-such-server'));
  expect(missing.status).toBe(2);
  expect(missing.stderr).toContain('no-such-server: no llama-server came up: spawn ');
  const other = benchTtft('--peer', process.execPath);
  expect(other.status).toBe(2);
  expect(other.stderr).toContain('no llama-server came up: it ended with 9');
});
