import { cutRemark, cutText } from './cut-text.ts';
import { printable } from './escape-control-characters.ts';
import { textCell } from './table.ts';
import { drawBlock } from './table-terminal.ts';
import {
  type Content,
  phrases,
  plainText,
  type Section,
  type SectionBlock,
  type SectionSegment,
  type SectionTable,
  type Share,
  stepMarks,
} from './section.ts';
import { coloured, hangingText, padText, type Terminal, textWidth, wrapText } from './terminal-text.ts';

/** Longer texts are cut, since they would fill the terminal. */
const MAX_CHARACTERS = 2000;
const GAP = 2;
const MAX_LABEL = 28;

const cellKinds = { text: 'text', number: 'number', bar: 'number', wrap: 'sentence' } as const;
const segmentColours = { system: 'gray', memory: 'yellow', history: 'green', query: 'cyan' } as const;

/** A section as lines within the width of the page, its heading first. */
export function sectionLines({ heading, blocks }: Section, page: Terminal): string[] {
  return [...headingLines(heading, page), ...blocks.flatMap((block) => blockLines(block, page))];
}

const headingLines = (text: string, page: Terminal): string[] =>
  wrapText(printable(text), page.width).map((line) => coloured(line, 'cyan', page));

function blockLines(block: SectionBlock, page: Terminal): string[] {
  const { width } = page;
  switch (block.kind) {
    case 'heading':
      return ['', ...headingLines(block.text, page)];
    case 'text':
      return wrapText(shownText(block.content), width);
    case 'note':
      return [];
    case 'pairs': {
      const indent = Math.max(10, ...block.rows.map(([name]) => textWidth(name) + GAP));
      return block.rows.flatMap(([name, content]) => hangingText(padText(name, indent), shownText(content), width));
    }
    case 'list':
      return block.items.flatMap((item) => hangingText('- ', shownText(item), width));
    case 'steps':
      return wrapText(
        block.steps
          .map(({ name, state }) => `${stepMarks[state]} ${name}${state === 'failed' ? ' (failed here)' : ''}`)
          .join(' → '),
        width,
      );
    case 'shares':
      return sharesLines(block.parts, width);
    case 'segments':
      return block.segments.flatMap((segment) => segmentLines(segment, page));
    case 'details': {
      const { text, left } = cutText(block.text.trimEnd(), block.most);
      const lines = [`${block.summary}:`, ...text.split('\n'), ...(left === 0 ? [] : [cutRemark(left)])];
      return ['', ...lines.flatMap((line) => wrapText(printable(line), width))];
    }
    case 'table':
      return tableLines(block, page);
  }
}

function shownText(content: Content): string {
  return phrases(content)
    .map(({ text }) => {
      const { text: shown, left } = cutText(text, MAX_CHARACTERS);
      return left === 0 ? printable(shown) : `${printable(shown)} ${cutRemark(left)}`;
    })
    .join('');
}

/** Cuts a text to a width at its end, or at its beginning, where the ids of one user do not differ. */
function shortened(text: string, columns: number, place: 'end' | 'beginning' = 'end'): string {
  if (textWidth(text) <= columns) return text;
  const characters = [...text];
  while (textWidth(characters.join('')) > columns - 1) characters[place === 'end' ? 'pop' : 'shift']();
  return place === 'end' ? `${characters.join('')}…` : `…${characters.join('')}`;
}

/** A bar of at most 80 columns, and its legend. Every part above 0 takes at least one column. */
export function sharesLines(parts: readonly Share[], width: number): string[] {
  const columns = Math.min(width, 80);
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  const counts = parts.map(({ weight }) => (weight > 0 ? Math.max(1, Math.round((weight / total) * columns)) : 0));
  const excess = counts.reduce((sum, count) => sum + count, 0) - columns;
  counts[counts.indexOf(Math.max(...counts))]! -= excess;
  const bar = parts.map(({ mark }, index) => mark.repeat(Math.max(0, counts[index]!))).join('');
  return [bar, ...wrapText(parts.map(({ mark, name, weight }) => `${mark} ${name} ${weight}`).join('  '), width)];
}

function segmentLines({ name, kind, injected, tokens, text }: SectionSegment, page: Terminal): string[] {
  const label = padText(shortened(printable(name), 18), 18);
  const facts = ` ${String(tokens).padStart(4)}  ${injected ? 'injected ' : 'evaluated'}  `;
  return hangingText(coloured(label, segmentColours[kind], page) + facts, shownText(text), page.width);
}

/** Bars are left out: their numbers stand beside them. */
function tableLines({ rowHeading, columns, rows }: SectionTable, page: Terminal): string[] {
  if (rows.length === 0) return [];
  const drawn = {
    rowHeading,
    rows: rows.map(({ label, cells }) => ({
      label: shortened(printable(plainText(label)), MAX_LABEL, 'beginning'),
      cells: Object.fromEntries(cells.map(({ content }, column) => [column, textCell(shownText(content))])),
    })),
  };
  const shown = columns.map(({ heading, kind }, column) => ({ key: String(column), heading, kind: cellKinds[kind] }));
  return drawBlock(drawn, { columns: shown }, page).join('\n\n').split('\n');
}
