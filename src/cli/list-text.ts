import { wrapText } from '../report/render/text-width.ts';
import { pageOf } from './page.ts';

/** Names with a line of text each, wrapped to the page. */
export function listText(rows: readonly (readonly [name: string, text: string])[]): string {
  const column = Math.max(...rows.map(([name]) => name.length)) + 2;
  const { width } = pageOf(process.stdout);
  return rows
    .flatMap(([name, text]) =>
      wrapText(text, width - column).map((line, index) => `${(index === 0 ? name : '').padEnd(column)}${line}\n`),
    )
    .join('');
}
