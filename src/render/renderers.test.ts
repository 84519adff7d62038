import { describe, expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { cutRemark, cutText } from './cut-text.ts';
import { printable, printableJson } from './escape-control-characters.ts';
import { groupedNumber } from './format-number.ts';
import { renderCsv } from './table-csv.ts';
import { renderJson } from './table-json.ts';
import { renderLatex } from './table-latex.ts';
import { renderMarkdown } from './table-markdown.ts';
import { renderTerminal } from './table-terminal.ts';
import { breakdownTable } from '../report/topics/categories.ts';
import { checksTable } from '../report/report-contents.ts';
import { armResultsTable } from '../report/tables/arm-results-table.ts';
import { type Table, textCell } from './table.ts';
import { textWidth, wrapText } from './terminal-text.ts';

const columns = [
  { key: 'x', heading: 'share (%)', kind: 'interval' },
  { key: 'name', heading: 'na|me', kind: 'text' },
] as const;
const interval = { kind: 'interval', value: -1.25, low: -2, high: 0.5, digits: 1 } as const;
const small: Table = {
  id: 'small',
  caption: 'A & B, 50 %',
  rowHeading: 'arm',
  blocks: [{ columns }],
  rows: [
    { label: 'a_b', cells: { x: interval, name: textCell('"q", [x]\u001b[31m') } },
    { label: 'c', cells: { x: undefined } },
  ],
  notes: ['n ≥ 100.'],
};

describe('renderers', () => {
  it('CSV has an interval in three columns, at full precision, quoted by RFC 4180', () => {
    expect(renderCsv(small)).toBe('arm,x,x.low,x.high,name\r\na_b,-1.25,-2,0.5,"""q"", [x]\\x1b[31m"\r\nc,,,,\r\n');
  });

  it('CSV keeps the columns behind a text that stands where an interval would', () => {
    const row = { label: 'a', cells: { x: textCell('random weights'), name: textCell('n') } };
    expect(renderCsv({ ...small, rows: [row] }).split('\r\n')[1]).toBe('a,random weights,,,n');
  });

  it('CSV has no text that a spreadsheet would run', () => {
    const row = { label: '=1+1', cells: { name: textCell('@SUM(A1)') } };
    expect(renderCsv({ ...small, rows: [row] }).split('\r\n')[1]).toBe("'=1+1,,,,'@SUM(A1)");
  });

  it('CSV has an empty field for an unknown number', () => {
    const row = { label: 'a', cells: { name: { kind: 'number', value: NaN, digits: 1 } as const } };
    expect(renderCsv({ ...small, rows: [row] }).split('\r\n')[1]).toBe('a,,,,');
  });

  it('JSON has values, not texts', () => {
    expect(JSON.parse(renderJson(small))).toMatchObject({
      columns: columns.map(({ key, heading }) => ({ key, heading })),
      rows: [
        { arm: 'a_b', x: { value: -1.25, low: -2, high: 0.5 } },
        { arm: 'c', x: null, name: null },
      ],
    });
  });

  it('Markdown escapes what would end a cell', () => {
    const lines = renderMarkdown(small).split('\n');
    expect(lines[2]).toBe('| arm | share (%) | na\\|me |');
    expect(lines[3]).toBe('| :--- | ---: | :--- |');
    expect(lines[4]).toBe('| a\\_b | −1.3 \\[−2.0, 0.5\\] | "q", \\[x\\]\\\\x1b\\[31m |');
    expect(lines[5]).toBe('| c | – | – |');
  });

  it('LaTeX escapes its own characters and uses booktabs', () => {
    const text = renderLatex(small);
    expect(text).toContain('\\caption{A \\& B, 50 \\%}');
    expect(text).toContain('a\\_b & $-$1.3 [$-$2.0, 0.5] &');
    expect(text).toContain('n $\\geq$ 100.');
    expect(text).not.toContain('\u001b');
    expect(text.match(/\\(top|mid|bottom)rule/g)).toEqual(['\\toprule', '\\midrule', '\\bottomrule']);
  });

  it('LaTeX has no float that is higher than a page, and says what its preamble needs', () => {
    const rows = Array.from({ length: 16 }, (_, index) => ({ label: `α ${index}`, cells: {} }));
    const text = renderLatex({ ...small, blocks: Array.from({ length: 3 }, () => small.blocks[0]!), rows });
    expect(text.startsWith('% \\usepackage{booktabs,amssymb,graphicx}\n\\begin{table}')).toBe(true);
    expect(text.match(/\\begin{table}|\\begin{tabular}|\(continued\)/g)).toEqual([
      ...['\\begin{table}', '\\begin{tabular}', '\\begin{tabular}'],
      ...['\\begin{table}', '(continued)', '\\begin{tabular}'],
    ]);
    expect(text).toContain('$\\alpha$ 15');
    expect(renderLatex({ ...small, caption: '记忆' })).toMatch(/^% xelatex or lualatex/);
  });

  it.each([80, 100, 44])('the terminal is never wider than %d columns', (width) => {
    const page = { width, colour: false };
    for (const table of [armResultsTable(runResults), breakdownTable(runResults), checksTable(runResults)]) {
      for (const line of renderTerminal(table, page).split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('the terminal aligns numbers and repeats the arm in every block', () => {
    const text = renderTerminal(armResultsTable(runResults), { width: 80, colour: false });
    const block = text.slice(text.indexOf('\nQuality\n') + 1, text.indexOf('Tokens per turn'));
    expect(block.trimEnd().split('\n')).toEqual([
      'Quality',
      'arm          exact match (%)     abstention (%)   task success (%)',
      'rag        97.2 [95.4, 99.0]  98.1 [96.6, 99.6]  97.2 [95.6, 98.8]',
      'dki        97.2 [95.4, 99.0]  98.1 [96.6, 99.6]  97.2 [95.6, 98.8]',
      'dki-wrong    0.4 [−1.4, 2.2]  98.1 [96.6, 99.6]    0.4 [−1.2, 2.0]',
    ]);
    expect(text.match(/^dki-wrong/gm)).toHaveLength(6);
  });

  it('the terminal never passes on a control character, and colours only where it may', () => {
    expect(renderTerminal(small, { width: 80, colour: false })).not.toContain('\u001b');
    expect(renderTerminal(small, { width: 80, colour: true })).not.toContain('\u001b[31m');
  });
});

describe('text', () => {
  it('makes controls, overrides and lone surrogates visible', () => {
    expect(printable('a\u001b]0;x\u0007\n\u202e\ud800 中 😀')).toBe('a\\x1b]0;x\\x07\\n\\u202e\\ud800 中 😀');
  });

  it('makes them visible in JSON, which means the same', () => {
    const text = printableJson({ a: 'x\u009b1m\u202e', b: [1] });
    expect(text).toContain('"x\\u009b1m\\u202e"');
    expect(JSON.parse(text)).toEqual({ a: 'x\u009b1m\u202e', b: [1] });
  });

  it('groups whole numbers by three', () => {
    const numbers = [0, 12, 999, 1000, 123_456, 1_234_567].map(groupedNumber);
    expect(numbers.join(' ')).toBe('0 12 999 1,000 123,456 1,234,567');
  });

  it('cuts by characters, never through one, and counts what is left out', () => {
    expect(cutText('short', 5)).toEqual({ text: 'short', left: 0 });
    expect(cutText('a😀b😀c', 2)).toEqual({ text: 'a😀', left: 3 });
    expect(cutText('😀😀', 2)).toEqual({ text: '😀😀', left: 0 });
    expect(cutText('x'.repeat(1_000_000), 10).left).toBe(999_990);
    expect(cutRemark(999_990)).toBe('… 999,990 more characters, all in the raw JSON');
  });

  it('counts columns and breaks lines by them', () => {
    expect(textWidth('中文 ab e\u0301')).toBe(9);
    expect(wrapText('one two  three', 8)).toEqual(['one two', 'three']);
    expect(wrapText('abcdefgh 中文中文', 5)).toEqual(['abcde', 'fgh', '中文', '中文']);
  });
});
