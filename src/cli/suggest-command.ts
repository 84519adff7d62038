import { resolve } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { shellWord } from '../render/printable.ts';
import { displayPath } from './output.ts';

/** Flags for the folder and database of a configuration; none for the defaults. */
export function locationFlags({ out, db }: Pick<BenchConfig, 'out' | 'db'>): string[] {
  return [
    ...(out === resolve('reports') ? [] : ['--out', displayPath(out)]),
    ...(db === resolve(out, 'dki-bench.sqlite') ? [] : ['--db', displayPath(db)]),
  ];
}

/** A command to suggest to the user, with the folder and database of a configuration, quoted for a shell. */
export function suggestCommand(
  command: string,
  config: Pick<BenchConfig, 'out' | 'db'>,
  words: readonly string[],
): string {
  const program =
    process.env['npm_lifecycle_event'] === undefined ? `npx dki-bench ${command}` : `npm run ${command} --`;
  return [program, ...[...words, ...locationFlags(config)].map(shellWord)].join(' ');
}
