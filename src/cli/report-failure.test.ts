import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { BenchError } from '../base/bench-error.ts';
import { reportFailure } from './program.ts';

let said = '';
vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
  said += String(text);
  return true;
});
afterEach(() => {
  said = '';
});

it('says a user’s mistake in two lines, without a stack', () => {
  expect(reportFailure(new BenchError('bad-data', 'x.jsonl:3: bad\nline', 'mend it'), false)).toBe(2);
  expect(said).toBe('error: x.jsonl:3: bad\\nline\n  hint: mend it\n');
});

it('keeps the stack of a bug in a file', () => {
  expect(reportFailure(new TypeError('x is undefined'), false)).toBe(70);
  const file = /^error: x is undefined\n {2}hint: this is a bug in dki-bench; its stack is in (.+)\n$/.exec(said)![1]!;
  expect(readFileSync(file, 'utf8')).toContain('failure.test.ts');
  rmSync(dirname(file), { recursive: true });
});

it('shows the stack where it is asked for', () => {
  reportFailure(new TypeError('x is undefined'), true);
  expect(said).toContain('    at ');
});
