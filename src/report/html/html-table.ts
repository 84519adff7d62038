import { html } from 'hono/html';
import { printable } from '../render/printable.ts';
import { type Cell, type Column, formatCell, headingOf, type Table } from '../table.ts';

/** A piece of a page: text from data is escaped in it. */
export type Html = ReturnType<typeof html>;

const marks: Readonly<Record<string, { readonly look: string; readonly words: string }>> = {
  '✓': { look: 'passed', words: 'passed' },
  '✗': { look: 'failed', words: 'failed' },
};

function content(cell: Cell | undefined): Html {
  const text = printable(formatCell(cell));
  if (cell?.kind === 'interval') {
    // On a narrow page the interval may stand below its value.
    const [value, ...interval] = text.split(' ');
    return html`<span>${value}</span> <span class="interval">${interval.join(' ')}</span>`;
  }
  const mark = marks[text];
  return mark === undefined ? html`${text}` : html`<b class="${mark.look}">${text} ${mark.words}</b>`;
}

const look = ({ align, sentence }: Column): string => (sentence ? 'sentence' : align);

/**
 * A table as HTML, its blocks below one another, each in a box that scrolls on a narrow page.
 *
 * @param prefix of the ids, which must be unique within a page
 */
export function htmlTable(table: Table, prefix: string): Html {
  const id = `${prefix}-${table.id}`;
  const blocks = table.blocks.map(({ title, columns }, index) => {
    const name = `${id}-${index + 1}`;
    return html`<div class="scroll" role="region" aria-labelledby="${name}" tabindex="0">
      <table>
        <caption id="${name}">
          ${title === undefined ? html`<span class="unseen">${printable(table.caption)}</span>` : printable(title)}
        </caption>
        <thead>
          <tr>
            <th scope="col">${printable(table.rowHeading)}</th>
            ${columns.map((column) => html`<th scope="col" class="${look(column)}">${printable(headingOf(column))}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${table.rows.map(
            ({ label, cells }) =>
              html`<tr>
                <th scope="row">${printable(label)}</th>
                ${columns.map((column) => html`<td class="${look(column)}">${content(cells[column.key])}</td>`)}
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
