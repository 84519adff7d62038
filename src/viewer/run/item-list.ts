import { html } from 'hono/html';
import { mostCounted, type TurnListPage } from '../../store/turn-list-repository.ts';
import type { TurnListRow } from '../../store/turn-list-repository.ts';
import type { Html } from '../../render/html-table.ts';
import type { MetricDeclaration } from '../../store/records/metric-declaration.ts';
import { groupedNumber, printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { ItemQuery, Links } from '../links.ts';
import { hiddenNote } from '../hidden-texts.ts';
import { listText } from '../../render/cut-text.ts';
import { type TurnColumn, turnColumns } from './turn-columns.ts';
import { type FilterValues, select, tick, turnFilters } from './turn-filters.ts';

/** A page of the turns of a run, and the values of its filters. */
export interface ItemList {
  readonly run: string;
  readonly query: ItemQuery;
  readonly page: TurnListPage;
  readonly values: FilterValues;
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

function filters(list: ItemList, links: Links): Html {
  const { run, query, primary, values } = list;
  const sorts = turnColumns(primary).filter(({ quality }) => values.judged || !quality);
  const isFiltered = Object.keys(query).length > 0;
  return html`<form class="filters" method="get" action="/run" data-live="items">
    <input type="hidden" name="run" value="${run}" />
    ${turnFilters(query, values)}
    ${select('sort', 'sorted by', query.sort, [
      ['', 'order of the run'],
      ...sorts.map(({ key, heading, meaning }) => [key, `${heading}: ${meaning}`] as const),
    ])}
    ${tick('descending', 'largest first', query.descending)}
    <button>Show</button>
    ${isFiltered ? html`<a href="${links.run(run)}#items">no filter</a>` : ''}
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

/** A gold answer as a list shows it; none where the question is not known either. */
export function goldText(gold: string | null, question: string | null): Html {
  if (gold !== null) return html`${listText(gold)}`;
  return html`<span class="soft">${question === null ? '–' : 'none: abstain'}</span>`;
}

function verdictMark({ taskSuccess, error, wrongClass, failedStage }: TurnListRow, judged: boolean): Html {
  if (error !== null) return html`<b class="bad">error</b>`;
  if (!judged || taskSuccess === null) return html`–`;
  if (taskSuccess === 1) return html`<b class="good">✓ right</b>`;
  const where = failedStage === null ? '' : html` <span class="soft">failed at ${printable(failedStage)}</span>`;
  return html`<b class="bad">✗ wrong</b
    >${wrongClass === null ? '' : html` <span class="soft">${printable(wrongClass)}</span>`}${where}`;
}

function row(list: ItemList, columns: readonly TurnColumn[], turn: TurnListRow, links: Links): Html {
  const { itemId, arm, repeat, turn: number, question, gold, answer, error } = turn;
  const ref = { run: list.run, item: itemId, arm, repeat, turn: number };
  const marks = [
    repeat > 0 ? `repeat ${repeat}` : '',
    number > 0 ? `turn ${number}` : '',
    turn.truncated ? 'truncated' : '',
    turn.failedChecks === null ? '' : `fails ${turn.failedChecks.replaceAll(',', ', ')}`,
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
    <td class="cut">${goldText(gold, question)}</td>
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

/** A link to the matrix of the items of these turns; of an export, of all items. */
function matrixLink({ run, query }: ItemList, links: Links): Html {
  const { sort: _sort, descending: _descending, ...filter } = fromStart(query);
  return html`<p><a href="${links.matrix(run, links.answered ? filter : {})}">As a matrix of items and arms</a></p>`;
}

/** The turns of a run as a list with filters, order and pages. */
export function itemList(list: ItemList, links: Links): Html {
  const columns = shownColumns(list);
  return html`<section id="items" aria-labelledby="items-heading">
    <h2 id="items-heading">Turns</h2>
    ${matrixLink(list, links)}
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
                    <th scope="col">gold</th>
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
