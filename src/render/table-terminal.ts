import { coloured, emphasised, type Terminal, textWidth, wrapText } from './terminal-text.ts';
import { printable } from './escape-control-characters.ts';
import { type Block, cellTexts, type Column, formatCell, type Table } from './table.ts';

const GAP = 2;
const MIN_SENTENCE = 20;

type TableRows = Pick<Table, 'rowHeading' | 'rows'>;

/** Width of a column and the gap before it; the minimum for a sentence, which wraps. */
function columnWidth(table: TableRows, { key, heading, kind }: Column): number {
  if (kind === 'sentence') return GAP + MIN_SENTENCE;
  return GAP + Math.max(textWidth(heading), ...table.rows.map(({ cells }) => textWidth(formatCell(cells[key]))));
}

function splitBlock(table: TableRows, block: Block, labelWidth: number, page: Terminal): Block[] {
  const blocks: Column[][] = [];
  let width = Infinity;
  for (const column of block.columns) {
    const needed = columnWidth(table, column);
    if (width + needed > page.width) {
      blocks.push([]);
      width = labelWidth;
    }
    blocks.at(-1)!.push(column);
    width += needed;
  }
  return blocks.map((columns) => ({ ...block, columns }));
}

function draw(table: TableRows, block: Block, labelWidth: number, page: Terminal): string {
  const { title, columns } = block;
  const [headings, ...rows] = cellTexts(table, block).map((texts) => texts.map(printable));
  const kinds: readonly Column['kind'][] = ['text', ...columns.map(({ kind }) => kind)];
  const least = [labelWidth, ...columns.map((column) => columnWidth(table, column) - GAP)];
  const free = Math.max(0, page.width - least.reduce((sum, width) => sum + GAP + width, -GAP));
  // Columns of sentences share the remaining width.
  const share = Math.floor(free / kinds.filter((kind) => kind === 'sentence').length);
  const widths = least.map((width, column) => (kinds[column] === 'sentence' ? width + share : width));
  const pad = (text: string, column: number): string => {
    const space = ' '.repeat(Math.max(0, widths[column]! - textWidth(text)));
    return kinds[column] === 'number' || kinds[column] === 'interval' ? space + text : text + space;
  };
  const drawRow = (texts: readonly string[]): string[] => {
    const cells = texts.map((text, column) =>
      kinds[column] === 'sentence' ? wrapText(text, widths[column]!) : [text],
    );
    const lines = Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line) =>
      cells.map((cell, column) => colourMark(pad(cell[line] ?? '', column), page)).join(' '.repeat(GAP)),
    );
    return lines.map((line) => line.trimEnd());
  };
  return [
    ...(title === undefined ? [] : [coloured(printable(title), 'cyan', page)]),
    ...drawRow(headings!).map((line) => emphasised(line, page)),
    ...rows.flatMap(drawRow),
  ].join('\n');
}

function colourMark(text: string, page: Terminal): string {
  if (text.startsWith('✓')) return coloured(text, 'green', page);
  return text.startsWith('✗') ? coloured(text, 'red', page) : text;
}

const labelColumnWidth = ({ rowHeading, rows }: TableRows): number =>
  Math.max(textWidth(rowHeading), ...rows.map(({ label }) => textWidth(label)));

/** Width of the widest block in columns of the terminal, if no block is split. */
export function tableWidth(table: Table): number {
  const widths = table.blocks.map(({ columns }) =>
    columns.reduce((sum, column) => sum + columnWidth(table, column), 0),
  );
  return labelColumnWidth(table) + Math.max(0, ...widths);
}

/** Draws a block of a table within the width of the page; one that is too wide becomes several. */
export function drawBlock(table: TableRows, block: Block, page: Terminal): string[] {
  const labelWidth = labelColumnWidth(table);
  return splitBlock(table, block, labelWidth, page).map((part) => draw(table, part, labelWidth, page));
}

/** Renders a table for a terminal, within the width of the page; blocks that are too wide are split. @param spacing `close`: no empty lines */
export function renderTerminal(table: Table, page: Terminal, spacing: 'apart' | 'close' = 'apart'): string {
  const caption = wrapText(printable(table.caption), page.width).map((line) => emphasised(line, page));
  const notes = wrapText(printable(table.notes.join(' ')), page.width).join('\n');
  return `${[
    caption.join('\n'),
    ...table.blocks.flatMap((block) => drawBlock(table, block, page)),
    ...(table.notes.length === 0 ? [] : [notes]),
  ].join(spacing === 'close' ? '\n' : '\n\n')}\n`;
}
