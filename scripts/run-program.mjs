import { execFileSync } from 'node:child_process';

/** Runs a program quietly; its error holds what it printed. */
export function run(program, args, options = {}) {
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
    ...options,
  });
}

/** The line that says why a program failed. */
export function reasonOf(error) {
  const lines = `${error.stderr ?? ''}`.trim() || error.message;
  return lines.split('\n').find((line) => /error/i.test(line)) ?? lines.split('\n')[0];
}
