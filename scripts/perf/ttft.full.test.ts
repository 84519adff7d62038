import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProcess, typescript } from '../../test/fixtures/run-process.ts';

const benchTtft = (...options: readonly string[]) =>
  runProcess([...typescript, join(import.meta.dirname, 'ttft.ts'), '--model', 'random:tiny-llama', ...options]);

test('every prefill strategy stands in the table, with what it evaluated, and exact ones agree', async () => {
  const { code, stdout } = await benchTtft('--memory-tokens', '300', '--query-tokens', '20', '--rounds', '1');
  expect(code).toBe(0);
  const [, prefix, suffix] = /a prefix of (\d+) tokens, (\d+) tokens behind it/.exec(stdout)!.map(Number);
  const rows = stdout.split('\n').map((line) => line.split('│').map((cell) => cell.trim()));
  const evaluated: Record<string, string> = Object.fromEntries(
    rows.filter((cells) => cells.length > 6).map((cells) => [cells[1], cells[6]]),
  );
  const whole = String(prefix! + suffix!);
  expect(evaluated).toMatchObject({
    'the query, its prefix in place': String(suffix),
    'dki, cache hit': String(suffix),
    'dki-blocks, cache hit': String(suffix),
    'dki-blocks, cache hit, in another order': String(suffix),
    'dki-parallel, cache hit': String(suffix),
    rag: whole,
    'dki, cache miss': whole,
    'dki-blocks, cache miss': whole,
  });
  expect(evaluated['the tokens of dki-link:4 in its chunks, no KV moved']).toBe(evaluated['dki-link:4, cache hit']);
  expect(Number(evaluated['dki-link:4, cache hit'])).toBeGreaterThan(suffix!);
  expect(stdout).toMatch(/^dki-link:4, cache hit: [\d.]+ × the tokens of dki-link:4 in its chunks, no KV moved$/m);
  expect(stdout).toMatch(/^dki-blocks, cache miss: [\d.]+ × rag$/m);
  expect(stdout).toContain('the same first token in 5 of 5 answers');
  expect(stdout).toContain('no llama-server given (--llama-server PATH)');
});

test('a mistake ends in one line and what to do about it, exit 2', async () => {
  expect(await benchTtft('--rounds', 'many')).toMatchObject({
    code: 2,
    stderr: '--rounds expected a whole number from 1, got "many"\nwrite --rounds 7, for example\n',
  });
  const servers = { [join(import.meta.dirname, 'no-such-server')]: 127, [process.execPath]: 9 };
  for (const [server, exit] of Object.entries(servers)) {
    const stderr = expect.stringContaining(`${server}: the server did not start: it exited with ${exit}`) as string;
    expect(await benchTtft('--llama-server', server)).toMatchObject({ code: 2, stderr });
  }
});
