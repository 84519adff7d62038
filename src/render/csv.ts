import { printable } from './printable.ts';
import type { Cell, Table } from './table.ts';

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

function fieldsOf(cell: Cell | undefined, interval: boolean): string[] {
  switch (cell?.kind) {
    case 'text':
      return interval ? [printable(cell.text), '', ''] : [printable(cell.text)];
    case 'number':
      return [String(cell.value)];
    case 'interval':
      return [cell.value, cell.low, cell.high].map((value) => (Number.isFinite(value) ? String(value) : ''));
    default:
      return interval ? ['', '', ''] : [''];
  }
}

/** Renders rows of fields as CSV (RFC 4180). */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

/** Renders a table as CSV (RFC 4180): all blocks side by side, full precision, an interval as three columns. */
export function renderCsv(table: Table): string {
  const columns = table.blocks.flatMap((block) => block.columns);
  const header = [
    table.rowHeading,
    ...columns.flatMap(({ key, interval }) => (interval ? [key, `${key}.low`, `${key}.high`] : [key])),
  ].map(printable);
  const rows = table.rows.map(({ label, cells }) => [
    printable(label),
    ...columns.flatMap(({ key, interval }) => fieldsOf(cells[key], interval === true)),
  ]);
  return csvText([header, ...rows]);
}
