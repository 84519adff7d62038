import { html } from 'hono/html';
import { mostCounted, type TurnListPage } from '../../db/turn-list-repository.ts';
import type { TurnListRow } from '../../db/schema.ts';
import type { Html } from '../../report/html/html-table.ts';
import type { MetricDeclaration } from '../../records/metric-declaration.ts';
import { printable } from '../../report/render/printable.ts';
import { formatNumber } from '../../report/table.ts';
import { groupedNumber } from '../grouped-number.ts';
import type { ItemQuery, Links } from '../links.ts';
import { hiddenNote } from '../hidden-texts.ts';
import { listText } from '../cut-text.ts';
import { type TurnColumn, turnColumns } from './turn-columns.ts';

/** A page of the turns of a run, and the values of its filters. */
export interface ItemList {
  readonly run: string;
  readonly query: ItemQuery;
  readonly page: TurnListPage;
  readonly arms: readonly string[];
  readonly categories: readonly string[];
  /** The metric that the verdicts of the run are on. */
  readonly primary: MetricDeclaration;
  /** The reason why no quality of answers is given; null if it is. */
  readonly unknownQuality: string | null;
  /** Why it has no texts; null where it has. */
  readonly hiddenTexts: string | null;
}

const shownColumns = ({ query, primary, unknownQuality }: ItemList): readonly TurnColumn[] =>
  turnColumns(primary).filter(({ key, quality, onDemand }) =>
    quality && unknownQuality !== null ? false : !onDemand || key === query.sort,
  );

const option = (value: string, text: string, chosen: string | undefined): Html =>
  html`<option value="${value}" ${value === (chosen ?? '') ? 'selected' : ''}>${printable(text)}</option>`;

const select = (
  name: string,
  label: string,
  chosen: string | undefined,
  options: readonly (readonly [string, string])[],
) =>
  html`<label
    >${label}
    <select name="${name}">
      ${options.map(([value, text]) => option(value, text, chosen))}
    </select></label
  >`;

const tick = (name: string, label: string, ticked: true | undefined): Html =>
  html`<label class="tick"
    ><input type="checkbox" name="${name}" value="1" ${ticked === true ? 'checked' : ''} /> ${label}</label
  >`;

function filters(list: ItemList, links: Links): Html {
  const { run, query, arms, categories, primary, unknownQuality } = list;
  const judged = unknownQuality === null;
  const sorts = turnColumns(primary).filter(({ quality }) => judged || !quality);
  const each = (names: readonly string[]) => names.map((name) => [name, name] as const);
  const order = (query.descending === true ? '-' : '') + (query.sort ?? '');
  return html`<form class="filters" method="get" action="/run" data-live="items">
    <input type="hidden" name="run" value="${run}" />
    <label
      >text <input type="search" name="text" value="${query.text ?? ''}" maxlength="200" data-filter autocomplete="off"
    /></label>
    ${select('arm', 'arm', query.arm, [['', 'all'], ...each(arms)])}
    ${
      judged
        ? select('answer', 'answer', query.answer, [
            ['', 'any'],
            ['right', 'right'],
            ['wrong', 'wrong'],
          ])
        : ''
    }
    ${categories.length === 0 ? '' : select('category', 'category', query.category, [['', 'all'], ...each(categories)])}
    ${judged ? tick('disagreeing', 'arms disagree', query.disagreeing) : ''}
    ${tick('truncated', 'truncated', query.truncated)} ${tick('failed', 'error', query.failed)}
    ${select('sort', 'sorted by', query.sort, [
      ['', 'order of the run'],
      ...sorts.map(({ key, heading, meaning }) => [key, `${heading}: ${meaning}`] as const),
    ])}
    ${tick('descending', 'largest first', query.descending)}
    <button>Show</button>
    ${order === '' && Object.keys(query).length === 0 ? '' : html`<a href="${links.run(run)}#items">no filter</a>`}
  </form> `;
}

/** The query of the first page of the same list. */
function fromStart({ after: _after, before: _before, at: _at, ...query }: ItemQuery): ItemQuery {
  return query;
}

function heading(list: ItemList, { key, heading: text, meaning }: TurnColumn, links: Links): Html {
  if (!links.answered) return html`<th scope="col" class="right" title="${meaning}">${text}</th>`;
  const { descending: _descending, sort, ...rest } = fromStart(list.query);
  const isSorted = sort === key;
  const opposite = isSorted && list.query.descending !== true ? { descending: true as const } : {};
  const state = isSorted ? (list.query.descending === true ? 'descending' : 'ascending') : 'none';
  const mark = isSorted ? (list.query.descending === true ? ' ↓' : ' ↑') : '';
  return html`<th scope="col" class="right" aria-sort="${state}">
    <a
      href="${links.run(list.run, { ...rest, sort: key, ...opposite })}#items"
      title="${meaning}"
      class="${isSorted ? 'sorted' : ''}"
      >${text}${mark}</a
    >
  </th>`;
}

function verdictMark({ taskSuccess, error, wrongClass }: TurnListRow, judged: boolean): Html {
  if (error !== null) return html`<b class="bad">error</b>`;
  if (!judged || taskSuccess === null) return html`–`;
  if (taskSuccess === 1) return html`<b class="good">✓ right</b>`;
  return html`<b class="bad">✗ wrong</b
    >${wrongClass === null ? '' : html` <span class="soft">${printable(wrongClass)}</span>`}`;
}

function row(list: ItemList, columns: readonly TurnColumn[], turn: TurnListRow, links: Links): Html {
  const { itemId, arm, repeat, turn: number, question, answer, error } = turn;
  const ref = { run: list.run, item: itemId, arm, repeat, turn: number };
  const marks = [
    repeat > 0 ? `repeat ${repeat}` : '',
    number > 0 ? `turn ${number}` : '',
    turn.truncated ? 'truncated' : '',
  ];
  const remarks = marks.filter((mark) => mark !== '').join(', ');
  const cells = columns.map(({ key, digits }) => {
    const value = turn[key];
    return html`<td class="right">${value === null ? '–' : formatNumber(value, digits)}</td>`;
  });
  return html`<tr>
    <th scope="row">
      <a data-open href="${links.turn(ref)}">${printable(arm)}</a
      >${remarks === '' ? '' : html` <span class="soft">${remarks}</span>`}
    </th>
    <td class="id"><a href="${links.item(list.run, itemId)}">${printable(itemId)}</a></td>
    <td class="cut">${question === null ? html`<span class="soft">not recorded</span>` : listText(question)}</td>
    <td class="cut">${error === null ? listText(answer) : html`<span class="bad">${listText(error)}</span>`}</td>
    <td>${verdictMark(turn, list.unknownQuality === null)}</td>
    ${cells}
  </tr> `;
}

/** `Turns 51 to 100 of 4,400`; the number alone if the address does not tell the place in the list. */
function place({ query: { at, after, before }, page: { rows, matching, hasNext } }: ItemList): string {
  if (matching === 0) return 'No turn matches.';
  const ahead = after === undefined && before === undefined ? 0 : at;
  const end = ahead === undefined || hasNext ? undefined : ahead + rows.length;
  const all = matching === 'many' ? `more than ${groupedNumber(mostCounted)}` : (matching ?? end);
  const total = typeof all === 'number' ? groupedNumber(all) : all;
  if (ahead === undefined) return total === undefined ? `${rows.length} turns` : `${rows.length} of ${total} turns`;
  const shown = `Turns ${groupedNumber(ahead + 1)} to ${groupedNumber(ahead + rows.length)}`;
  return total === undefined ? `${shown}, more follow` : `${shown} of ${total}`;
}

function pager(list: ItemList, links: Links): Html {
  const { run, query, page } = list;
  const { rows, hasPrevious, hasNext } = page;
  const rest = fromStart(query);
  const at = query.after === undefined && query.before === undefined ? 0 : query.at;
  const to = (text: string, cursor: ItemQuery, relation: string): Html =>
    html`<li><a href="${links.run(run, { ...rest, ...cursor })}#items" rel="${relation}">${text}</a></li>`;
  const atOf = (ahead: number | undefined) => (ahead === undefined || ahead < 1 ? {} : { at: ahead });
  const [first, last] = [rows[0]?.turnId, rows.at(-1)?.turnId];
  return html`<nav class="pages" aria-label="Pages of the list">
    <span role="status">${place(list)}</span>
    <ul>
      ${hasPrevious ? to('First', {}, 'first') : ''}
      ${hasPrevious && first !== undefined ? to('Previous', { before: first, ...atOf(at === undefined ? at : at - 50) }, 'prev') : ''}
      ${hasNext && last !== undefined ? to('Next', { after: last, ...atOf(at === undefined ? at : at + rows.length) }, 'next') : ''}
    </ul>
  </nav> `;
}

/** The turns of a run as a list with filters, order and pages. */
export function itemList(list: ItemList, links: Links): Html {
  const columns = shownColumns(list);
  return html`<section id="items" aria-labelledby="items-heading">
    <h2 id="items-heading">Items</h2>
    ${list.unknownQuality === null ? '' : html`<p class="note">No scores: ${printable(list.unknownQuality)}.</p>`}
    ${hiddenNote(list.hiddenTexts)} ${links.answered ? filters(list, links) : ''}
    <div data-result="items">
      ${pager(list, links)}
      ${
        list.page.rows.length === 0
          ? ''
          : html`<div class="scroll" role="region" aria-labelledby="items-heading" tabindex="0">
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col">arm</th>
                    <th scope="col">item</th>
                    <th scope="col">question</th>
                    <th scope="col">answer</th>
                    <th scope="col">verdict</th>
                    ${columns.map((column) => heading(list, column, links))}
                  </tr>
                </thead>
                <tbody>
                  ${list.page.rows.map((turn) => row(list, columns, turn, links))}
                </tbody>
              </table>
            </div>`
      }
    </div>
  </section> `;
}
