import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BenchError } from '../base/bench-error.ts';

/** Streams on which a question is asked and answered. */
interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks a question that is answered with y or yes, or else with no.
 * @param yes `--yes` was given: nobody is asked
 * @throws BenchError `bad-option` where nobody can answer
 */
export async function confirmed(
  question: string,
  yes: boolean,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  if (yes) return true;
  if (input.isTTY !== true) {
    throw new BenchError('bad-option', `${question} nobody can answer here`, 'add --yes where the terms are accepted');
  }
  using reader = closing(createInterface({ input, output }));
  output.write(`${question} [y/N] `);
  const [answer] = (await Promise.race([once(reader.lines, 'line'), once(reader.lines, 'close')])) as [string?];
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
}

function closing(lines: ReturnType<typeof createInterface>): Disposable & { readonly lines: typeof lines } {
  return { lines, [Symbol.dispose]: () => lines.close() };
}
