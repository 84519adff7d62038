import { html } from 'hono/html';
import { present } from '../base/present.ts';
import type { Html } from './html.ts';
import { printable } from './escape-control-characters.ts';
import { type Cell, type Column, formatCell, type Table } from './table.ts';
import { formatNumber } from './format-number.ts';

export interface RowLink {
  readonly href: string;
  readonly words: string;
}

const marks: Readonly<Record<string, string>> = { '✓': 'passed', '✗': 'failed' };

function content(cell: Cell): Html {
  const text = printable(formatCell(cell));
  const [, value, interval] = /^(.+) (\[[^\]]+\])$/.exec(text) ?? [];
  // On a narrow page the interval wraps below its value.
  if (interval !== undefined) return html`<span>${value}</span> <span class="interval">${interval}</span>`;
  const mark = marks[text];
  return mark === undefined ? html`${text}` : html`<b class="${mark}">${text} ${mark}</b>`;
}

function title(cell: Cell): Html | string {
  if (cell?.kind !== 'interval') return '';
  const [value, low, high] = [cell.value, cell.low, cell.high].map((part) => formatNumber(part, cell.digits));
  const words = present([
    `${value!}, 95 % interval ${low!} to ${high!}`,
    cell.n !== undefined && `n = ${cell.n}`,
    cell.users !== undefined && `${cell.users} ${cell.users === 1 ? 'user' : 'users'}`,
  ]);
  return html`title="${words.join(', ')}"`;
}

const dataCell = (column: Column, cell: Cell): Html =>
  html`<td class="${look(column)}" ${title(cell)}>${content(cell)}</td>`;

/** A name that may wrap before its settings: `dki-blocks` and `@context=previous`. */
export const wrappingName = (name: string): Html =>
  html`${name.split(/(?=@)/).map((part, index) => html`${index === 0 ? '' : html`<wbr />`}${printable(part)}`)}`;

function rowHeading(label: string, link: RowLink | undefined): Html {
  if (link === undefined) return wrappingName(label);
  return html`<a href="${link.href}" title="${printable(link.words)}">${wrappingName(label)}</a>`;
}

const looks = { text: 'left', sentence: 'sentence', number: 'right', interval: 'right' } as const;
const look = ({ kind }: Column): string => looks[kind];

/** Renders a table as HTML. @param prefix makes ids unique within the page @param link link of a row, by its label */
export function htmlTable(table: Table, prefix: string, link?: (label: string) => RowLink): Html {
  const id = `${prefix}-${table.id}`;
  const blocks = table.blocks.map((block, index) => {
    const name = `${id}-${index + 1}`;
    return html`<div class="scroll" role="region" aria-labelledby="${name}" tabindex="0">
      <table>
        <caption id="${name}">
          ${block.title === undefined ? html`<span class="unseen">${printable(table.caption)}</span>` : printable(block.title)}
        </caption>
        <thead>
          <tr>
            <th scope="col">${printable(table.rowHeading)}</th>
            ${block.columns.map((column) => html`<th scope="col" class="${look(column)}">${printable(column.heading)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${table.rows.map(
            ({ label, cells }) =>
              html`<tr>
                <th scope="row">${rowHeading(label, link?.(label))}</th>
                ${block.columns.map((column) => dataCell(column, cells[column.key]))}
              </tr> `,
          )}
        </tbody>
      </table>
    </div> `;
  });
  return html`<section class="table" aria-labelledby="${id}">
    <h3 id="${id}">${printable(table.caption)}</h3>
    <div class="blocks">${blocks}</div>
    ${table.notes.length === 0 ? '' : html`<p class="note">${printable(table.notes.join(' '))}</p>`}
  </section> `;
}
