import { stringify } from 'csv-stringify/sync';
import { printable } from './escape-control-characters.ts';
import type { Cell, Table } from './table.ts';

const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/** Puts an apostrophe before a text that a spreadsheet may run as a formula, even if it already begins with apostrophes. */
export const spreadsheetText = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** A number in full precision; empty if it is unknown or infinite. */
const finite = (value: number): string => (Number.isFinite(value) ? String(value) : '');

/** A text as it may stand in a file that a spreadsheet opens. */
export const textField = (text: string): string => spreadsheetText(printable(text));

function fields(cell: Cell, isInterval: boolean): string[] {
  if (cell?.kind === 'number') return [finite(cell.value)];
  if (cell?.kind === 'interval') return [cell.value, cell.low, cell.high].map(finite);
  const text = textField(cell?.text ?? '');
  return isInterval ? [text, '', ''] : [text];
}

export function csvText(rows: readonly (readonly string[])[]): string {
  return stringify([...rows], { record_delimiter: 'windows', quoted_match: /[\r\n]/ });
}

/** Renders a table as CSV: all blocks side by side, full precision, an interval as three columns. */
export function renderCsv(table: Table): string {
  const columns = table.blocks.flatMap((block) => block.columns);
  const header = columns.flatMap(({ key, kind }) => (kind === 'interval' ? [key, `${key}.low`, `${key}.high`] : [key]));
  const rows = table.rows.map(({ label, cells }) => [
    textField(label),
    ...columns.flatMap(({ key, kind }) => fields(cells[key], kind === 'interval')),
  ]);
  return csvText([[table.rowHeading, ...header].map(textField), ...rows]);
}
