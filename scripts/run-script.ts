import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
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

/** The words of a script of package.json, as `npm run` starts it: a measurement starts the same. */
export function npmScript(name: 'inspect' | 'tables'): readonly string[] {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { scripts: Record<typeof name, string> }).scripts[name].split(' ');
}

/** An empty folder below the system's temporary one, which is deleted at disposal. */
export class ScratchFolder implements Disposable {
  readonly path: string;

  constructor(name: string) {
    this.path = mkdtempSync(join(tmpdir(), `dki-bench-${name}-`));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Reads the options of a script; those whose default is false are flags. @param optional names of options without a default */
export function readOptions<Defaults extends Readonly<Record<string, string | false>>, Name extends string = never>(
  defaults: Defaults,
  optional: readonly Name[] = [],
): { readonly [Option in keyof Defaults]: Defaults[Option] extends string ? string : boolean } & Readonly<
  Partial<Record<Name, string>>
> {
  const options: Record<string, { type: 'string' | 'boolean'; default?: string | boolean }> = {};
  for (const name of optional) options[name] = { type: 'string' };
  for (const [name, value] of Object.entries(defaults)) {
    options[name] = { type: value === false ? 'boolean' : 'string', default: value };
  }
  return parseArgs({ options }).values as ReturnType<typeof readOptions<Defaults, Name>>;
}

/** Reads the whole number that an option gives. @throws BenchError `bad-option` for anything else, or below `least` */
export function wholeNumber(option: string, text: string, least: number): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number;
  const message = `--${option} expected a whole number from ${least}, got "${text}"`;
  throw new BenchError('bad-option', message, `write --${option} ${Math.max(least, 7)}, for example`);
}

/** Reads several whole numbers. @param least the least value of each @throws BenchError `bad-option` */
export function wholeNumbers<Least extends Readonly<Record<string, number>>>(
  values: Readonly<Record<keyof Least & string, string>>,
  least: Least,
): { readonly [Name in keyof Least]: number } {
  const numbers = Object.entries(least).map(([name, value]) => [name, wholeNumber(name, values[name]!, value)]);
  return Object.fromEntries(numbers) as { [Name in keyof Least]: number };
}

export interface PrintedTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** The tables that this process has printed, in order. */
export const printedTables: PrintedTable[] = [];

/** Prints a table, numbers to the right of a first column of names. */
export function printTable(head: PrintedTable['head'], rows: PrintedTable['rows']): void {
  printedTables.push({ head, rows });
  const colAligns = head.map((_, index) => (index === 0 ? 'left' : 'right'));
  const table = new Table({ head: [...head], colAligns, style: { head: [], border: [], compact: true } });
  for (const row of rows) table.push([...row]);
  console.log(table.toString());
}

/** A table in Markdown, numbers to the right of a first column of names. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
