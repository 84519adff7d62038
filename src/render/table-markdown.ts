import { printable } from './escape-control-characters.ts';
import { cellTexts, type Table } from './table.ts';

const escape = (text: string) => printable(text).replace(/[\\|<>*_`[\]]/g, '\\$&');
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

export function renderMarkdown(table: Table): string {
  const parts = table.blocks.flatMap((block) => {
    const [headings, ...rows] = cellTexts(table, block).map((texts) => line(texts.map(escape)));
    const isRight = block.columns.map(({ kind }) => kind === 'number' || kind === 'interval');
    const rule = line([':---', ...isRight.map((right) => (right ? '---:' : ':---'))]);
    return [...(block.title === undefined ? [] : [`*${escape(block.title)}*`]), [headings, rule, ...rows].join('\n')];
  });
  const notes = table.notes.length === 0 ? [] : [table.notes.map(escape).join(' ')];
  return `${[`**${escape(table.caption)}**`, ...parts, ...notes].join('\n\n')}\n`;
}
