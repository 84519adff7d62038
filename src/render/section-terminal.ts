import { cutRemark, cutText } from './cut-text.ts';
import { printable } from './escape-control-characters.ts';
import {
  type BarPart,
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
const MIN_LABEL = 8;
const MIN_WRAPPED = 40;
const MAX_BAR = 40;
const MIN_BAR = 4;

const barMarks: Readonly<Record<string, string>> = { first: '▒', total: '░', harmed: '░' };
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
      return tableLines(block, width);
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

function barText(parts: readonly BarPart[], columns: number): string {
  const [part] = parts;
  if (part === undefined) return '';
  const from = Math.min(columns - 1, Math.round(part.start * columns));
  const length = Math.max(part.look === 'phase' ? 1 : 0, Math.min(columns - from, Math.round(part.share * columns)));
  return ' '.repeat(from) + (barMarks[part.look] ?? '█').repeat(length);
}

function tableLines({ rowHeading, columns, rows }: SectionTable, width: number): string[] {
  const texts = rows.map(({ cells }) =>
    cells.map(({ content }, column) => (columns[column]!.kind === 'wrap' ? '' : printable(plainText(content)))),
  );
  const labels = rows.map(({ label }) => printable(plainText(label)));
  const natural = columns.map(({ heading, kind }, column) => {
    const text = Math.max(kind === 'bar' ? 0 : textWidth(heading), ...texts.map((row) => textWidth(row[column]!)));
    return kind === 'wrap' ? 0 : GAP + (kind === 'bar' ? text + 1 + MIN_BAR : text);
  });
  const labelWidth = Math.min(MAX_LABEL, Math.max(textWidth(rowHeading), ...labels.map(textWidth)));
  const sum = natural.reduce((total, one) => total + one, 0);
  const first = Math.max(MIN_LABEL, Math.min(labelWidth, width - sum));
  // Columns that do not fit are left out, from the right.
  let used = first;
  const shown = columns.flatMap((column, index) => {
    if (column.kind === 'wrap') return [];
    used += natural[index]!;
    return used <= width ? [index] : [];
  });
  const free = Math.max(0, width - first - shown.reduce((total, index) => total + natural[index]!, 0));
  const wrapped = columns.findIndex(({ kind }) => kind === 'wrap');
  const isBelow = free - GAP < MIN_WRAPPED;
  const bars = shown.filter((index) => columns[index]!.kind === 'bar').length;
  const barWidth = Math.min(MAX_BAR, MIN_BAR + Math.floor(free / Math.max(1, bars)));
  // In a column of bars, a number precedes each bar, and the heading takes the width of both.
  const cellText = (column: number, text: string, bar?: readonly BarPart[]): string => {
    const { kind } = columns[column]!;
    const own = natural[column]! - GAP;
    if (kind === 'number') return text.padStart(own);
    if (kind === 'text') return padText(text, own);
    const whole = own - MIN_BAR + barWidth;
    if (bar === undefined) return padText(shortened(text, whole), whole);
    return padText(`${text.padStart(own - 1 - MIN_BAR)} ${barText(bar, barWidth)}`, whole);
  };

  const headings = shown.map((index) => cellText(index, columns[index]!.heading));
  const head = [padText(shortened(rowHeading, first), first), ...headings].join(' '.repeat(GAP)).trimEnd();
  const body = rows.flatMap((row, place) => {
    const cells = shown.map((index) => cellText(index, texts[place]![index]!, row.cells[index]!.bar ?? []));
    const line = [padText(shortened(labels[place]!, first, 'beginning'), first), ...cells].join(' '.repeat(GAP));
    if (wrapped === -1) return [line.trimEnd()];
    const long = shownText(row.cells[wrapped]!.content);
    if (isBelow) return [line.trimEnd(), ...hangingText(' '.repeat(4), long, width)];
    return hangingText(line + ' '.repeat(GAP), long, width);
  });
  return rows.length === 0 ? [] : [head, ...body];
}
