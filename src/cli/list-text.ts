import { wrapText } from '../render/text-width.ts';
import { pageOf } from './page.ts';

/** Names with a line of text each; at a terminal wrapped to its width, so that programs read a line a name. */
export function listText(rows: readonly (readonly [name: string, text: string])[]): string {
  const column = Math.max(...rows.map(([name]) => name.length)) + 2;
  const width = process.stdout.isTTY ? pageOf(process.stdout).width : Infinity;
  return rows
    .flatMap(([name, text]) =>
      wrapText(text, width - column).map((line, index) => `${(index === 0 ? name : '').padEnd(column)}${line}\n`),
    )
    .join('');
}
