import { relative, resolve } from 'node:path';
import type { WriteStream } from 'node:tty';
import { printable, printableJson } from '../render/escape-control-characters.ts';
import { hangingText, type Terminal } from '../render/terminal-text.ts';
import type { Table } from '../render/table.ts';
import { renderTerminal } from '../render/table-terminal.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { shellWord } from '../render/shell-word.ts';

const DEFAULT_COLUMNS = 80;

/** Width and colours of a stream: 80 columns and no colours if it is not a terminal; see NO_COLOR, FORCE_COLOR. */
export function terminalPage(
  stream: WriteStream = process.stdout,
  environment: NodeJS.ProcessEnv = process.env,
): Terminal {
  const forced = !['', '0', 'false'].includes(environment['FORCE_COLOR'] ?? '');
  if (!stream.isTTY) return { width: DEFAULT_COLUMNS, colour: forced };
  const wanted = forced || ((environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb');
  // 0 means that the width is unknown.
  return { width: Math.max(40, stream.columns || DEFAULT_COLUMNS), colour: wanted };
}

/** Prints lines, with control characters made visible. */
export function printLines(lines: readonly string[], stream: WriteStream = process.stdout): void {
  stream.write(lines.map((line) => `${printable(line)}\n`).join(''));
}

export function printResult(json: boolean | undefined, document: unknown, lines: () => readonly string[]): void {
  if (json === true) process.stdout.write(printableJson(document));
  else printLines(lines());
}

export function printResultTables(json: boolean | undefined, document: unknown, tables: readonly Table[]): void {
  const page = terminalPage();
  process.stdout.write(
    json === true ? printableJson(document) : tables.map((table) => renderTerminal(table, page)).join('\n'),
  );
}

/** Names with a text each: wrapped at a terminal, else one line per name, for other programs. */
export function listLines(rows: readonly (readonly [name: string, text: string])[]): string[] {
  const column = Math.max(...rows.map(([name]) => name.length)) + 2;
  const width = process.stdout.isTTY ? terminalPage().width : Infinity;
  return rows.flatMap(([name, text]) => hangingText(name.padEnd(column), text, width));
}

/** Formats a path: relative to the working folder if it lies below it, else absolute. */
export function displayPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

type Location = Pick<BenchConfig, 'out' | 'db'>;

/** Flags for the folder and database of a configuration; none for the defaults. */
export function locationFlags({ out, db }: Location): string[] {
  return [
    ...(out === resolve('reports') ? [] : ['--out', displayPath(out)]),
    ...(db === resolve(out, 'dki-bench.sqlite') ? [] : ['--db', displayPath(db)]),
  ];
}

/** A command to suggest to the user, with the folder and database of a configuration, quoted for a shell. */
export function suggestNextCommand(verb: string, config: Location, words: readonly string[]): string {
  const program = process.env['npm_lifecycle_event'] === undefined ? `npx dki-bench ${verb}` : `npm run ${verb} --`;
  return [program, ...[...words, ...locationFlags(config)].map(shellWord)].join(' ');
}
