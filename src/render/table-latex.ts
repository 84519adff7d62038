import { batches } from '../base/batches.ts';
import { printable } from './escape-control-characters.ts';
import { type Block, cellTexts, type Table } from './table.ts';

const replacements: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '−': '$-$',
  '–': '--',
  '×': '$\\times$',
  '÷': '$\\div$',
  '≥': '$\\geq$',
  '≤': '$\\leq$',
  '·': '$\\cdot$',
  '→': '$\\to$',
  α: '$\\alpha$',
  Δ: '$\\Delta$',
  '≈': '$\\approx$',
  '∞': '$\\infty$',
  '✓': '$\\checkmark$',
  '✗': '$\\times$',
  '…': '\\ldots{}',
};

function escape(text: string): string {
  return printable(text).replace(
    /[&%$#_{}\\~^−–×÷≥≤·→αΔ≈∞✓✗…]/gu,
    (character) => replacements[character] ?? `\\${character}`,
  );
}

// LaTeX would take a leading bracket for the argument of the line break before it.
const line = (cells: readonly string[]) =>
  `${cells.map((cell) => escape(cell).replace(/^\[/, '{[}')).join(' & ')} \\\\`;

// pdfLaTeX has only Latin letters.
const beyondLatin = /[^\p{ASCII}\p{Script=Latin}\u00a0-\u00ff‘’“”]/u;

/** Lines that the blocks of one float may take; the rest of the page is for caption and notes. */
const LINES_PER_FLOAT = 40;
const LINES_BESIDE_ROWS = 4;

const floats = ({ blocks, rows }: Table): Block[][] =>
  batches(blocks, Math.max(1, Math.floor(LINES_PER_FLOAT / (rows.length + LINES_BESIDE_ROWS))));

const alignments = { text: 'l', sentence: 'p{0.6\\linewidth}', number: 'r', interval: 'r' } as const;

function tabular(table: Table, block: Block): string {
  const { title, columns } = block;
  const [headings, ...rows] = cellTexts(table, block).map(line);
  return [
    '\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%',
    `\\begin{tabular}{l${columns.map(({ kind }) => alignments[kind]).join('')}}`,
    '\\toprule',
    ...(title === undefined ? [] : [`\\multicolumn{${columns.length + 1}}{l}{\\emph{${escape(title)}}} \\\\`]),
    headings,
    '\\midrule',
    ...rows,
    '\\bottomrule',
    '\\end{tabular}}',
  ].join('\n');
}

/** Renders a table with `booktabs`, `graphicx` and `amssymb`, in several floats if its blocks do not fit one page. */
export function renderLatex(table: Table): string {
  // LaTeX numbers its floats itself.
  const caption = escape(table.caption.replace(/^(?:Table|Figure) [^.]*\. /, ''));
  const notes =
    table.notes.length === 0 ? [] : ['', '\\smallskip', `{\\footnotesize ${escape(table.notes.join(' '))}}`];
  const text = floats(table)
    .map((blocks, index, { length }) =>
      [
        '\\begin{table}',
        '\\centering',
        ...(index === 0
          ? [`\\caption{${caption}}`, `\\label{tab:${table.id}}`]
          : ['\\addtocounter{table}{-1}', `\\caption{${caption} (continued)}`]),
        blocks.map((block) => tabular(table, block)).join('\n\n\\medskip\n'),
        ...(index === length - 1 ? notes : []),
        '\\end{table}',
      ].join('\n'),
    )
    .join('\n\n');
  const engine = beyondLatin.test(text)
    ? ['% xelatex or lualatex, with a font that has the non-Latin characters.']
    : [];
  return `${[...engine, '% \\usepackage{booktabs,amssymb,graphicx}', text].join('\n')}\n`;
}
