import { BenchError } from '../src/base/bench-error.ts';

/** Runs a script; a mistake of its user ends in one line and what to do about it, exit 2. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const mistake = error instanceof BenchError;
    const usage = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') ?? false;
    if (!mistake && !usage) throw error;
    console.error(mistake ? `${error.message}\n${error.hint}` : (error as Error).message);
    process.exitCode = 2;
  }
}

/** The whole number that an option gives. @throws BenchError `bad-option` on anything else, or below `least` */
export function wholeNumber(option: string, text: string, least: number): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number;
  const message = `--${option} expected a whole number from ${least}, got "${text}"`;
  throw new BenchError('bad-option', message, `write --${option} ${Math.max(least, 7)}, for example`);
}
