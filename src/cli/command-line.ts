import { relative, resolve } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';

const quoted = (word: string) => (/^[\w./:,@=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/** A path as its user would write it: from the working folder where it lies below, else from the root. */
export function shownPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

/** The command that calls a verb on the database and folder of a configuration, ready to be pasted. */
export function commandLine(verb: string, config: Pick<BenchConfig, 'out' | 'db'>, words: readonly string[]): string {
  const places: string[] = [];
  if (config.out !== resolve('reports')) places.push('--out', shownPath(config.out));
  if (config.db !== resolve(config.out, 'dki-bench.sqlite')) places.push('--db', shownPath(config.db));
  const program = process.env['npm_lifecycle_event'] === undefined ? `npx dki-bench ${verb}` : `npm run ${verb} --`;
  return [program, ...[...words, ...places].map(quoted)].join(' ');
}
