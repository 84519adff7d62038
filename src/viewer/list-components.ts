import { html } from 'hono/html';
import { listText } from '../render/cut-text.ts';
import type { Html } from '../render/html.ts';
import { printable } from '../render/escape-control-characters.ts';
import { scrolledTable } from '../render/section-html.ts';

/** A column of a list; cells of the first column are row headings. */
export interface ListColumn<Row> {
  readonly heading: Html | string;
  /** Class of its cells: `right` for numbers, `cut` for long texts. */
  readonly look?: string;
  /** Content of a cell, or the whole `td` element if `isWhole`. */
  readonly cell: (row: Row) => Html | string;
  readonly isWhole?: true;
}

export function listTable<Row>(label: string, look: string, columns: readonly ListColumn<Row>[], rows: readonly Row[]) {
  const heading = ({ heading: text, look: own }: ListColumn<Row>): Html =>
    html`<th scope="col" class="${own === 'right' || own === 'arm' ? own : ''}">${text}</th>`;
  const cell = (row: Row, { look: own = '', cell: content, isWhole }: ListColumn<Row>, index: number) => {
    if (isWhole === true) return content(row);
    return index === 0 ? html`<th scope="row">${content(row)}</th>` : html`<td class="${own}">${content(row)}</td>`;
  };
  const body = rows.map(
    (row) =>
      html`<tr>
        ${columns.map((column, index) => cell(row, column, index))}
      </tr> `,
  );
  return scrolledTable(label, `list ${look}`, columns.map(heading), body);
}

/** A page of a list, the last if there are fewer. @param wanted from 1 */
export function pageOf<Row>(rows: readonly Row[], size: number, wanted = 1) {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(wanted, pages);
  return { page, pages, shown: rows.slice((page - 1) * size, page * size) };
}

const relations = { First: 'first', Previous: 'prev', Next: 'next', 'Swap A and B': 'alternate' } as const;

interface PageLink {
  readonly text: keyof typeof relations;
  readonly href: string;
}

export function pager(status: string, links: readonly PageLink[]): Html {
  return html`<nav class="pages" aria-label="Pages of the list">
    <span role="status">${status}</span>
    <ul>
      ${links.map(({ text, href }) => html`<li><a href="${href}" rel="${relations[text]}">${text}</a></li>`)}
    </ul>
  </nav>`;
}

export function numberedLinks(page: number, pages: number, href: (page: number) => string): PageLink[] {
  const back: PageLink[] = [
    { text: 'First', href: href(1) },
    { text: 'Previous', href: href(page - 1) },
  ];
  return [...(page > 1 ? back : []), ...(page < pages ? [{ text: 'Next', href: href(page + 1) } as const] : [])];
}

interface FilterForm {
  readonly action: string;
  /** Id of the list that the script updates as the form changes; undefined if only the button submits the form. */
  readonly live?: string;
  readonly hidden: Readonly<Record<string, string | number>>;
  readonly fields: Html | readonly (Html | string)[];
  readonly button?: string;
  readonly unfiltered?: string | undefined;
}

/** Form with the filters of a list. Without the script, its button submits it. */
export function filterForm({ action, live, hidden, fields, button = 'Show', unfiltered }: FilterForm): Html {
  return html`<form
    class="filters"
    method="get"
    action="${action}"
    ${live === undefined ? '' : html`data-live="${live}"`}
  >
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${fields} <button>${button}</button>
    ${unfiltered === undefined ? '' : html`<a href="${unfiltered}">no filter</a>`}
  </form>`;
}

export type Option = readonly [value: string, text: string];

export const options = (names: readonly string[]): Option[] => names.map((name) => [name, name]);

export const select = (name: string, label: string, chosen: string | undefined, values: readonly Option[]): Html =>
  html`<label
    >${printable(label)}
    <select name="${name}">
      ${values.map(([value, text]) => html`<option value="${value}" ${value === (chosen ?? '') ? 'selected' : ''}>${printable(text)}</option>`)}
    </select></label
  >`;

export const tick = (name: string, label: string, ticked: true | undefined): Html =>
  html`<label class="tick"
    ><input type="checkbox" name="${name}" value="1" ${ticked === true ? 'checked' : ''} /> ${label}</label
  >`;

export const textField = (text = ''): Html =>
  html`<label
    >text <input type="search" name="text" value="${text}" maxlength="200" data-filter autocomplete="off"
  /></label>`;

/** An answer for a list, or the error in its place. */
export function answerText(answer: string, error: string | null): string {
  if (error !== null) return `error: ${listText(error)}`;
  return answer === '' ? '(empty)' : listText(answer);
}

/** A gold answer for a list; `–` if the question is unknown too, so that null does not mean abstain. */
export function goldText(gold: string | null, question: string | null): Html {
  if (gold !== null) return html`${listText(gold)}`;
  return html`<span class="soft">${question === null ? '–' : 'none: abstain'}</span>`;
}
