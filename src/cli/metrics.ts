import type { Command } from 'commander';
import { builtInMetrics } from '../eval/analysis/metrics/metrics.ts';
import { metricDeclaration } from '../store/records/metric-declaration.ts';
import { metricsTable } from '../report/list-tables.ts';
import { printableJson } from '../render/printable.ts';
import { renderTerminal } from '../render/terminal.ts';
import { pageOf } from './page.ts';

/** Declares `metrics`. */
export function declareMetrics(command: Command): void {
  command
    .description('list the metrics of an answer: the better value, and the loss that still counts as kept')
    .option('--json', 'print one JSON document')
    .action(({ json }: { readonly json?: true }) => {
      const declared = builtInMetrics.map((metric) => metricDeclaration.parse(metric));
      process.stdout.write(
        json === true ? printableJson(declared) : renderTerminal(metricsTable(declared), pageOf(process.stdout)),
      );
    });
}
