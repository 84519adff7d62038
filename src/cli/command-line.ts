import { relative, resolve } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';

const quoted = (word: string) => (/^[\w./:,@=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/** A path as its user would write it: from the working folder where it lies below, else from the root. */
export function shownPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

/** The options that say where the database and the folder of a configuration are; none where they are the defaults. */
export function placeWords({ out, db }: Pick<BenchConfig, 'out' | 'db'>): string[] {
  return [
    ...(out === resolve('reports') ? [] : ['--out', shownPath(out)]),
    ...(db === resolve(out, 'dki-bench.sqlite') ? [] : ['--db', shownPath(db)]),
  ];
}

/** The command that calls a verb on the database and folder of a configuration, ready to be pasted. */
export function commandLine(verb: string, config: Pick<BenchConfig, 'out' | 'db'>, words: readonly string[]): string {
  const program = process.env['npm_lifecycle_event'] === undefined ? `npx dki-bench ${verb}` : `npm run ${verb} --`;
  return [program, ...[...words, ...placeWords(config)].map(quoted)].join(' ');
}
