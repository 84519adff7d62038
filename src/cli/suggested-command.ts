import { relative, resolve } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { shellWord } from '../render/printable.ts';

/** A path relative to the working folder if it is below it, else from the root. */
export function shownPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

/** The options that name the database and the folder of a configuration; none for the defaults. */
export function placeWords({ out, db }: Pick<BenchConfig, 'out' | 'db'>): string[] {
  return [
    ...(out === resolve('reports') ? [] : ['--out', shownPath(out)]),
    ...(db === resolve(out, 'dki-bench.sqlite') ? [] : ['--db', shownPath(db)]),
  ];
}

/** A command that calls a verb on the database and folder of a configuration, quoted for a shell. */
export function commandLine(verb: string, config: Pick<BenchConfig, 'out' | 'db'>, words: readonly string[]): string {
  const program = process.env['npm_lifecycle_event'] === undefined ? `npx dki-bench ${verb}` : `npm run ${verb} --`;
  return [program, ...[...words, ...placeWords(config)].map(shellWord)].join(' ');
}
