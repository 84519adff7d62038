import { printable } from './printable.ts';
import { type Column, formatCell, headingOf, type Table } from './table.ts';

function escaped(text: string): string {
  return printable(text).replace(/[\\|<>*_`[\]]/g, '\\$&');
}

const rule = (align: Column['align']) => (align === 'right' ? '---:' : ':---');
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Renders a table in GitHub's Markdown, its blocks below one another. */
export function renderMarkdown(table: Table): string {
  const parts = table.blocks.flatMap(({ title, columns }) => [
    ...(title === undefined ? [] : [`*${escaped(title)}*`]),
    [
      line([table.rowHeading, ...columns.map(headingOf)].map(escaped)),
      line([':---', ...columns.map(({ align }) => rule(align))]),
      ...table.rows.map(({ label, cells }) =>
        line([label, ...columns.map(({ key }) => formatCell(cells[key]))].map(escaped)),
      ),
    ].join('\n'),
  ]);
  const notes = table.notes.length === 0 ? [] : [table.notes.map(escaped).join(' ')];
  return `${[`**${escaped(table.caption)}**`, ...parts, ...notes].join('\n\n')}\n`;
}
