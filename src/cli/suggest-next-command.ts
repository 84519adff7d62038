import { resolve } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { shellWord } from '../render/shell-word.ts';
import { displayPath } from './output.ts';

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
