import { printable } from './printable.ts';
import { type Block, formatCell, headingOf, type Table } from './table.ts';

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
  '≈': '$\\approx$',
  '∞': '$\\infty$',
  '✓': '$\\checkmark$',
  '✗': '$\\times$',
  '…': '\\ldots{}',
};

function escaped(text: string): string {
  return printable(text).replace(
    /[&%$#_{}\\~^−–×÷≥≤·→α≈∞✓✗…]/gu,
    (character) => replacements[character] ?? `\\${character}`,
  );
}

// A leading bracket would be read as the argument of the line break before it.
const line = (cells: readonly string[]) => `${cells.map((cell) => cell.replace(/^\[/, '{[}')).join(' & ')} \\\\`;

// pdfLaTeX knows Latin letters alone.
const beyondLatin = /[^\p{ASCII}\p{Script=Latin}\u00a0-\u00ff‘’“”]/u;

/** Lines of a page that the blocks of one float may take; the rest is for its caption and notes. */
const LINES_OF_A_FLOAT = 40;
/** Title, headings, rules and the space after a block, in lines. */
const LINES_BESIDE_ROWS = 4;

/** Distributes blocks over floats, which LaTeX does not break across pages. */
function floatsOf({ blocks, rows }: Table): Block[][] {
  const each = Math.max(1, Math.floor(LINES_OF_A_FLOAT / (rows.length + LINES_BESIDE_ROWS)));
  return Array.from({ length: Math.ceil(blocks.length / each) }, (_, index) =>
    blocks.slice(index * each, (index + 1) * each),
  );
}

/** One block, scaled down if it is wider than the page. */
function tabular(table: Table, { title, columns }: Block): string {
  const alignment = columns.map(({ align, sentence }) =>
    sentence ? 'p{0.6\\linewidth}' : align === 'right' ? 'r' : 'l',
  );
  return [
    '\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%',
    `\\begin{tabular}{l${alignment.join('')}}`,
    '\\toprule',
    ...(title === undefined ? [] : [`\\multicolumn{${columns.length + 1}}{l}{\\emph{${escaped(title)}}} \\\\`]),
    line([table.rowHeading, ...columns.map(headingOf)].map(escaped)),
    '\\midrule',
    ...table.rows.map(({ label, cells }) =>
      line([label, ...columns.map(({ key }) => formatCell(cells[key]))].map(escaped)),
    ),
    '\\bottomrule',
    '\\end{tabular}}',
  ].join('\n');
}

/**
 * Renders a table for LaTeX with `booktabs`, `graphicx` (to scale wide blocks) and `amssymb` (for the marks of checks), its
 * blocks below one another, in several floats if they do not fit one page. A comment names the packages.
 */
export function renderLatex(table: Table): string {
  const floats = floatsOf(table);
  const caption = escaped(table.caption);
  const notes =
    table.notes.length === 0 ? [] : ['', `\\smallskip`, `{\\footnotesize ${escaped(table.notes.join(' '))}}`];
  const body = floats.map((blocks, index) =>
    [
      '\\begin{table}',
      '\\centering',
      ...(index === 0
        ? [`\\caption{${caption}}`, `\\label{tab:${table.id}}`]
        : ['\\addtocounter{table}{-1}', `\\caption{${caption} (continued)}`]),
      blocks.map((block) => tabular(table, block)).join('\n\n\\medskip\n'),
      ...(index === floats.length - 1 ? notes : []),
      '\\end{table}',
    ].join('\n'),
  );
  const text = body.join('\n\n');
  const engine = beyondLatin.test(text) ? ['% xelatex or lualatex, with a font for its characters beyond Latin.'] : [];
  return `${[...engine, '% \\usepackage{booktabs,amssymb,graphicx}', text].join('\n')}\n`;
}
