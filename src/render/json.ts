import { printableJson } from './printable.ts';
import { type Cell, headingOf, type Table } from './table.ts';

function valueOf(cell: Cell | undefined): unknown {
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
export function tableAsJson(table: Table): unknown {
  const columns = table.blocks.flatMap((block) => block.columns);
  return {
    id: table.id,
    caption: table.caption,
    columns: columns.map((column) => ({ key: column.key, heading: headingOf(column) })),
    rows: table.rows.map(({ label, cells }) => ({
      [table.rowHeading]: label,
      ...Object.fromEntries(columns.map(({ key }) => [key, valueOf(cells[key])])),
    })),
    notes: table.notes,
  };
}

/** Renders a table as a JSON document. */
export function renderJson(table: Table): string {
  return printableJson(tableAsJson(table));
}
