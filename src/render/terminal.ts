import { styleText } from 'node:util';
import TerminalTable from 'cli-table3';
import { printable } from './printable.ts';
import { type Block, type Column, formatCell, headingOf, type Table } from './table.ts';
import { textWidth, wrapText } from './text-width.ts';

/** Abilities of the terminal that a text is written to. */
export interface Page {
  /** Columns. */
  readonly width: number;
  readonly colour: boolean;
}

const gap = 2;
const noLines = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '' },
};

/** Text in bold if the page has colours. */
export function emphasised(text: string, page: Page): string {
  return page.colour ? styleText('bold', text, { validateStream: false }) : text;
}

/** Text in a colour if the page has colours. */
export function coloured(text: string, colour: 'green' | 'red' | 'yellow' | 'cyan' | 'gray', page: Page): string {
  return page.colour ? styleText(colour, text, { validateStream: false }) : text;
}

function columnWidth(table: Table, column: Column): number {
  return Math.max(
    textWidth(headingOf(column)),
    ...table.rows.map(({ cells }) => textWidth(formatCell(cells[column.key]))),
  );
}

/** Splits a block that is wider than the page into several. */
function fitted(table: Table, block: Block, labelWidth: number, page: Page): Block[] {
  const blocks: Block[] = [];
  let columns: Column[] = [];
  let width = labelWidth;
  for (const column of block.columns) {
    const needed = gap + (column.sentence ? 20 : columnWidth(table, column));
    if (columns.length > 0 && width + needed > page.width) {
      blocks.push({ ...block, columns });
      columns = [];
      width = labelWidth;
    }
    columns.push(column);
    width += needed;
  }
  return [...blocks, { ...block, columns }];
}

function drawn(table: Table, { title, columns }: Block, labelWidth: number, page: Page): string {
  const taken = columns.reduce(
    (sum, column) => sum + gap + (column.sentence ? 0 : columnWidth(table, column)),
    labelWidth,
  );
  const sentenceWidth = Math.max(20, page.width - taken);
  const terminal = new TerminalTable({
    chars: noLines,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: ['left', ...columns.map(({ align }) => align)],
  });
  const indent = ' '.repeat(gap);
  const headings = [table.rowHeading, ...columns.map((column) => indent + headingOf(column))];
  terminal.push(headings.map((heading) => emphasised(heading, page)));
  for (const { label, cells } of table.rows) {
    const row = columns.map(({ key, sentence }) => {
      const text = printable(formatCell(cells[key]));
      return indent + (sentence ? wrapText(text, sentenceWidth).join(`\n${indent}`) : marked(text, page));
    });
    terminal.push([printable(label), ...row]);
  }
  const lines = terminal.toString().split('\n');
  return [...(title === undefined ? [] : [coloured(title, 'cyan', page)]), ...lines.map((line) => line.trimEnd())].join(
    '\n',
  );
}

function marked(text: string, page: Page): string {
  if (text === '✓') return coloured(text, 'green', page);
  return text === '✗' ? coloured(text, 'red', page) : text;
}

/** Renders a table for a terminal, within the width of the page; blocks that are too wide are split. */
export function renderTerminal(table: Table, page: Page): string {
  const labelWidth = Math.max(textWidth(table.rowHeading), ...table.rows.map(({ label }) => textWidth(label)));
  const blocks = table.blocks.flatMap((block) => fitted(table, block, labelWidth, page));
  return `${[
    wrapText(printable(table.caption), page.width)
      .map((line) => emphasised(line, page))
      .join('\n'),
    ...blocks.map((block) => drawn(table, block, labelWidth, page)),
    ...(table.notes.length === 0 ? [] : [wrapText(printable(table.notes.join(' ')), page.width).join('\n')]),
  ].join('\n\n')}\n`;
}
