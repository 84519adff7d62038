import { printableJson } from './escape-control-characters.ts';
import type { Cell, Table } from './table.ts';

function value(cell: Cell): unknown {
  switch (cell?.kind) {
    case 'text':
      return cell.text;
    case 'number':
      return cell.value;
    case 'interval':
      return { value: cell.value, low: cell.low, high: cell.high };
    default:
      return null;
  }
}

/** A table as a value for JSON, in full precision. */
export function tableAsJson({ id, caption, rowHeading, blocks, rows, notes }: Table): unknown {
  const columns = blocks.flatMap((block) => block.columns);
  return {
    id,
    caption,
    columns: columns.map(({ key, heading }) => ({ key, heading })),
    rows: rows.map(({ label, cells }) => ({
      [rowHeading]: label,
      ...Object.fromEntries(columns.map(({ key }) => [key, value(cells[key])])),
    })),
    notes,
  };
}

export function renderJson(table: Table): string {
  return printableJson(tableAsJson(table));
}
