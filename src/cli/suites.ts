import type { Command } from 'commander';
import { suitesNamed } from '../eval/suites/suites.ts';
import { printableJson } from '../render/printable.ts';
import { listText } from './list-text.ts';

/** Declares `suites`. */
export function declareSuites(command: Command): void {
  command
    .description('list the suites that bench --suite takes, with the question that each answers')
    .option('--json', 'print one JSON document')
    .action(({ json }: { readonly json?: true }) => {
      const rows = suitesNamed(['all']).map(({ name, question, arms }) => ({ name, question, arms }));
      process.stdout.write(json === true ? printableJson(rows) : listText(rows.map((row) => [row.name, row.question])));
    });
}
