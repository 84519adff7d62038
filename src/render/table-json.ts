import { printableJson } from './escape-control-characters.ts';
import type { Cell, Table } from './table.ts';

function value(cell: Cell): unknown {
  if (cell?.kind === 'interval') return { value: cell.value, low: cell.low, high: cell.high };
  return (cell?.kind === 'text' ? cell.text : cell?.value) ?? null;
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

export const renderJson = (table: Table): string => printableJson(tableAsJson(table));
