import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { groupedNumber, printable } from '../../render/printable.ts';
import { listText } from '../../render/cut-text.ts';
import { hiddenNote } from '../hidden-texts.ts';
import type { Links, MatrixQuery } from '../links.ts';
import { goldText } from '../run/item-list.ts';
import { turnFilters } from '../run/turn-filters.ts';
import { isRight, type Outcome, outcomeInWords, outcomeMarks, outcomeOf } from './outcome.ts';
import type { MatrixPage, MatrixRow } from './read-matrix.ts';

/** Answers of one item that a page shows. */
const mostAnswers = 12;

const legend: readonly (readonly [Outcome, string])[] = [
  ['right', 'right'],
  ['wrong', 'wrong'],
  ['abstained', 'abstained'],
  ['mixed', 'repeats differ'],
  ['error', 'error'],
];

function cell({ run, unknownQuality }: MatrixPage, { itemId, turns }: MatrixRow, arm: string, links: Links): Html {
  const ofArm = turns.get(arm);
  if (ofArm === undefined) return html`<td class="o"></td>`;
  const judged = unknownQuality === null;
  const outcome = outcomeOf(ofArm, judged);
  const look = judged ? (isRight(ofArm) ? 'good' : 'bad') : 'soft';
  const { repeat, turn, wrongClass, failedStage, cache, failedChecks } = ofArm[0]!;
  const words = `${printable(arm)}: ${outcomeInWords(ofArm, judged)}`;
  return html`<td
    class="o ${outcome} ${look}"
    data-class="${wrongClass ?? ''}"
    data-stage="${failedStage ?? ''}"
    data-cache="${cache ?? ''}"
    data-checks="${failedChecks ?? ''}"
  >
    <a href="${links.turn({ run, item: itemId, arm, repeat, turn })}" title="${words}"
      ><b aria-hidden="true">${outcomeMarks[outcome]}</b></a
    >
  </td>`;
}

/** Answers of the arms, equal answers together, those of the most arms first. */
function answers({ turns }: MatrixRow, judged: boolean): Html {
  const all = [...turns.values()].flat();
  const byAnswer = [...Map.groupBy(all, ({ answer, error }) => JSON.stringify([answer.trim(), error]))]
    .map(([, same]) => same)
    .sort((a, b) => b.length - a.length);
  return html`<dl class="answers">
    ${byAnswer.slice(0, mostAnswers).map((same) => {
      const { answer, error } = same[0]!;
      const look = !judged ? 'soft' : isRight(same) ? 'good' : 'bad';
      const arms = [...new Set(same.map(({ arm }) => arm))].join(', ');
      return html`<dt class="cut">
          <span class="${look}"
            >${judged ? `${outcomeMarks[outcomeOf(same, judged)]} ` : ''}${error === null ? (answer.trim() === '' ? '(empty)' : listText(answer.trim())) : `error: ${listText(error)}`}</span
          >
        </dt>
        <dd>${printable(arms)}</dd> `;
    })}
    ${byAnswer.length > mostAnswers ? html`<dt class="soft">and ${byAnswer.length - mostAnswers} other answers</dt>` : ''}
  </dl>`;
}

function row(matrix: MatrixPage, one: MatrixRow, links: Links): Html {
  const { itemId, question, gold } = one;
  const isHidden = matrix.hiddenTexts !== null;
  const shown = isHidden || question === null ? printable(itemId) : listText(question);
  return html`<tr>
    <th scope="row">
      ${
        isHidden
          ? shown
          : html`<details>
              <summary>${shown}</summary>
              ${answers(one, matrix.unknownQuality === null)}
            </details>`
      }
      <a class="soft" data-open href="${links.item(matrix.run, itemId)}">${isHidden ? 'item' : printable(itemId)}</a>
    </th>
    <td class="gold cut">${isHidden ? '' : goldText(gold, question)}</td>
    ${matrix.arms.map((arm) => cell(matrix, one, arm, links))}
  </tr> `;
}

function filters({ run, query, values }: MatrixPage, links: Links): Html {
  const { page: _, ...filter } = query;
  // Of a file the script of the page itself hides the rows that do not pass.
  if (!links.answered) {
    return html`<form class="filters" data-static="matrix">
      ${turnFilters({}, values, true)}
      <span class="soft">Filters act on the items of this page: <output>all are shown</output>.</span>
    </form>`;
  }
  return html`<form class="filters" method="get" action="/matrix" data-live="matrix">
    <input type="hidden" name="run" value="${run}" />
    ${turnFilters(query, values)}
    <button>Show</button>
    ${Object.keys(filter).length === 0 ? '' : html`<a href="${links.matrix(run)}">no filter</a>`}
  </form>`;
}

/** `Items 51 to 100 of 4,400`, and links to the pages around. */
function pager({ run, query, rows, first, matching, page, pages }: MatrixPage, links: Links): Html {
  const { page: _, ...filter } = query;
  const to = (text: string, number: number, relation: string, more: MatrixQuery = { page: number }): Html =>
    html`<li><a href="${links.matrix(run, { ...filter, ...more })}" rel="${relation}">${text}</a></li>`;
  return html`<nav class="pages" aria-label="Pages of the matrix">
    <span role="status"
      >${
        matching === 0
          ? 'No item matches.'
          : `Items ${groupedNumber(first)} to ${groupedNumber(first + rows.length - 1)} of ${groupedNumber(matching)}`
      }</span
    >
    <ul>
      ${page > 1 ? to('First', 1, 'first', {}) : ''} ${page > 1 ? to('Previous', page - 1, 'prev') : ''}
      ${page < pages ? to('Next', page + 1, 'next') : ''}
    </ul>
  </nav>`;
}

/** The matrix of items and arms: a mark for each outcome, gold and answers behind each question. */
export function matrixPage(matrix: MatrixPage, links: Links): Html {
  const { run, query, arms, rows, unknownQuality, hiddenTexts, values } = matrix;
  const { page: _, ...filter } = query;
  const marks = unknownQuality === null ? legend : [];
  return html`<h1>Items and arms</h1>
    <p class="lead">
      Run <a href="${links.run(run)}">${printable(run)}</a>. A row shows an item of which some turn passes the filters;
      a mark opens the turn, a question its answers.
      ${links.answered ? html`<a href="${links.run(run, filter)}#items">The same turns as a list</a>` : ''}
    </p>
    ${unknownQuality === null ? '' : html`<p class="note">No scores: ${printable(unknownQuality)}.</p>`}
    ${hiddenNote(hiddenTexts)} ${filters(matrix, links)}
    <ul class="legend">
      ${marks.map(([outcome, words]) => html`<li class="o ${outcome}"><b>${outcomeMarks[outcome]}</b> ${words}</li> `)}
      ${marks.length === 0 ? '' : html`<li class="soft">green: as it should be; red: not</li>`}
      ${values.failedChecks.size === 0 ? html`<li class="soft">no turn fails a check by itself</li>` : ''}
    </ul>
    <div data-result="matrix">
      ${pager(matrix, links)}
      ${
        rows.length === 0
          ? ''
          : html`<div class="scroll" role="region" aria-label="Items and arms" tabindex="0">
              <table class="list matrix">
                <thead>
                  <tr>
                    <th scope="col">question</th>
                    <th scope="col">gold</th>
                    ${arms.map((arm) => html`<th scope="col" class="arm"><span>${printable(arm)}</span></th>`)}
                  </tr>
                </thead>
                <tbody>
                  ${rows.map((one) => row(matrix, one, links))}
                </tbody>
              </table>
            </div>`
      }
    </div>`;
}
