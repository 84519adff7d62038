import type { MetricDeclaration } from '../store/records/metric-declaration.ts';
import { type Table, textCell } from '../render/table.ts';

/** Table of what metrics say of themselves. */
export function metricsTable(metrics: readonly MetricDeclaration[]): Table {
  return {
    id: 'metrics',
    caption: 'Metrics',
    rowHeading: 'name',
    blocks: [
      {
        columns: [
          { key: 'label', heading: 'in tables', align: 'left' },
          { key: 'kind', heading: 'kind', align: 'left' },
          { key: 'better', heading: 'better', align: 'left' },
          { key: 'margin', heading: 'kept within', align: 'left' },
        ],
      },
    ],
    rows: metrics.map(({ name, label, kind, unit, direction, margin }) => ({
      label: name,
      cells: {
        label: textCell(label),
        kind: textCell(kind),
        better: textCell(direction),
        margin: textCell(`${margin} ${unit === '%' ? 'points' : unit}`),
      },
    })),
    notes: [
      'docs/metrics.md defines each. Kept within: the loss that a verdict still calls kept; --margin sets that of metrics in %.',
    ],
  };
}
