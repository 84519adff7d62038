import { styleText } from 'node:util';
import TerminalTable from 'cli-table3';
import { printable } from './printable.ts';
import { type Block, cellTexts, type Column, formatCell, type Table } from './table.ts';
import { textWidth, wrapText } from './text-width.ts';

/** Abilities of the terminal that a text is written to. */
export interface Page {
  /** Columns. */
  readonly width: number;
  readonly colour: boolean;
}

const GAP = 2;
const LEAST_SENTENCE = 20;
const indent = ' '.repeat(GAP);

const borders =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle';
const noBorders = Object.fromEntries(borders.split(' ').map((name) => [name, '']));

/** Text in bold if the page has colours. */
export function emphasised(text: string, page: Page): string {
  return page.colour ? styleText('bold', text, { validateStream: false }) : text;
}

/** Text in a colour if the page has colours. */
export function coloured(text: string, colour: 'green' | 'red' | 'yellow' | 'cyan' | 'gray', page: Page): string {
  return page.colour ? styleText(colour, text, { validateStream: false }) : text;
}

/** The width of a column with the gap before it; of a sentence, which is wrapped, the least. */
function columnWidth(table: Table, { key, heading, kind }: Column): number {
  if (kind === 'sentence') return GAP + LEAST_SENTENCE;
  return GAP + Math.max(textWidth(heading), ...table.rows.map(({ cells }) => textWidth(formatCell(cells[key]))));
}

/** Splits a block that is wider than the page into several. */
function fit(table: Table, block: Block, labelWidth: number, page: Page): Block[] {
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

function draw(table: Table, block: Block, labelWidth: number, page: Page): string {
  const { title, columns } = block;
  const others = columns.filter(({ kind }) => kind !== 'sentence').map((column) => columnWidth(table, column));
  const sentences = GAP * (columns.length - others.length);
  const sentenceWidth = Math.max(
    LEAST_SENTENCE,
    page.width - others.reduce((sum, width) => sum + width, labelWidth + sentences),
  );
  const terminal = new TerminalTable({
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: ['left', ...columns.map(({ kind }) => (kind === 'text' || kind === 'sentence' ? 'left' : 'right'))],
  });
  const [headings, ...rows] = cellTexts(table, block);
  terminal.push(headings!.map((heading, index) => emphasised(index === 0 ? heading : indent + heading, page)));
  for (const [label, ...texts] of rows) {
    const cells = texts.map((text, index) => {
      const shown = printable(text);
      if (columns[index]!.kind !== 'sentence') return indent + marked(shown, page);
      return indent + wrapText(shown, sentenceWidth).join(`\n${indent}`);
    });
    terminal.push([printable(label!), ...cells]);
  }
  const lines = terminal.toString().split('\n');
  const heading = title === undefined ? [] : [coloured(title, 'cyan', page)];
  return [...heading, ...lines.map((line) => line.trimEnd())].join('\n');
}

function marked(text: string, page: Page): string {
  if (text === '✓') return coloured(text, 'green', page);
  return text === '✗' ? coloured(text, 'red', page) : text;
}

/** Renders a table for a terminal, within the width of the page; blocks that are too wide are split. */
export function renderTerminal(table: Table, page: Page): string {
  const labelWidth = Math.max(textWidth(table.rowHeading), ...table.rows.map(({ label }) => textWidth(label)));
  const caption = wrapText(printable(table.caption), page.width).map((line) => emphasised(line, page));
  const notes = wrapText(printable(table.notes.join(' ')), page.width).join('\n');
  return `${[
    caption.join('\n'),
    ...table.blocks
      .flatMap((block) => fit(table, block, labelWidth, page))
      .map((block) => draw(table, block, labelWidth, page)),
    ...(table.notes.length === 0 ? [] : [notes]),
  ].join('\n\n')}\n`;
}
