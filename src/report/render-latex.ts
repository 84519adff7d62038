import { printable } from './printable.ts';
import { formatCell, headingOf, type Table } from './table.ts';

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
  '✓': '$\\checkmark$',
  '✗': '$\\times$',
  '…': '\\ldots{}',
};

function escaped(text: string): string {
  return printable(text).replace(
    /[&%$#_{}\\~^−–×÷≥≤·→✓✗…]/gu,
    (character) => replacements[character] ?? `\\${character}`,
  );
}

// A row that begins with a bracket would be read as the argument of the line break before it.
const line = (cells: readonly string[]) => `${cells.map((cell) => cell.replace(/^\[/, '{[}')).join(' & ')} \\\\`;

/** A table for LaTeX with `booktabs` (and `amssymb` for the marks of the gates), its blocks below one another. */
export function renderLatex(table: Table): string {
  const blocks = table.blocks.map(({ title, columns }) => {
    const alignment = columns.map(({ align, sentence }) =>
      sentence ? 'p{0.6\\linewidth}' : align === 'right' ? 'r' : 'l',
    );
    return [
      `\\begin{tabular}{l${alignment.join('')}}`,
      '\\toprule',
      ...(title === undefined ? [] : [`\\multicolumn{${columns.length + 1}}{l}{\\emph{${escaped(title)}}} \\\\`]),
      line([table.rowHeading, ...columns.map(headingOf)].map(escaped)),
      '\\midrule',
      ...table.rows.map(({ label, cells }) =>
        line([label, ...columns.map(({ key }) => formatCell(cells[key]))].map(escaped)),
      ),
      '\\bottomrule',
      '\\end{tabular}',
    ].join('\n');
  });
  const notes =
    table.notes.length === 0 ? [] : ['', `\\smallskip`, `{\\footnotesize ${escaped(table.notes.join(' '))}}`];
  return `${[
    '\\begin{table}',
    '\\centering',
    `\\caption{${escaped(table.caption)}}`,
    `\\label{tab:${table.id}}`,
    blocks.join('\n\n\\medskip\n'),
    ...notes,
    '\\end{table}',
  ].join('\n')}\n`;
}
