import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { Links } from '../links.ts';
import type { ListedRun, RunsPage } from './read-runs-page.ts';

function checksCell({ checks }: ListedRun): Html {
  if (checks === null) return html`–`;
  if (checks.failed.length > 0) return html`<b class="bad">✗ failed:</b> ${printable(checks.failed.join(', '))}`;
  return html`<b class="good">✓ ${checks.passed} passed</b>`;
}

const mark = (side: 'a' | 'b', { name }: ListedRun): Html =>
  html`<td class="mark">
    <input
      type="radio"
      name="${side}"
      value="${name}"
      aria-label="${side === 'a' ? 'compare' : 'against'} ${printable(name)}"
    />
  </td>`;

function row(run: ListedRun, links: Links): Html {
  const { name, suite, startedAt, model, dataset, items, checks, verdict } = run;
  return html`<tr>
    <th scope="row"><a data-open href="${links.run(name)}">${printable(name)}</a></th>
    ${links.answered ? [mark('a', run), mark('b', run)] : ''}
    <td>${printable(suite)}</td>
    <td><time datetime="${startedAt}">${startedAt.slice(0, 16).replace('T', ' ')}</time></td>
    <td class="name">${printable(model)}</td>
    <td class="name">${printable(dataset)}</td>
    <td class="right">${items}</td>
    <td>${checksCell(run)}</td>
    <td class="sentence">
      ${printable(verdict)}
      ${checks === null && links.answered ? html`<a href="${links.watch(name)}">Progress</a>` : ''}
    </td>
  </tr> `;
}

function filter({ query, matching, page, pages }: RunsPage): Html {
  const to = (text: string, number: number) => {
    const values = new URLSearchParams({
      ...(query.text === undefined ? {} : { text: query.text }),
      page: `${number}`,
    });
    return html`<li><a href="/?${values.toString()}">${text}</a></li>`;
  };
  return html`<form class="filters" method="get" action="/" data-live="runs">
      <label
        >text
        <input type="search" name="text" value="${query.text ?? ''}" maxlength="200" data-filter autocomplete="off"
      /></label>
      <button>Show</button>
    </form>
    <nav class="pages" aria-label="Pages of the list">
      <span role="status"
        >${matching === 1 ? '1 run' : `${matching} runs`}${pages > 1 ? `, page ${page} of ${pages}` : ''}</span
      >
      <ul>
        ${page > 1 ? to('Previous', page - 1) : ''} ${page < pages ? to('Next', page + 1) : ''}
      </ul>
    </nav>`;
}

/** The page of all runs; two of them can be marked and compared. */
export function runsPage(model: RunsPage, links: Links): Html {
  const table = html`<div class="scroll" role="region" aria-label="Runs" tabindex="0">
    <table class="list runs">
      <thead>
        <tr>
          <th scope="col">run</th>
          ${
            links.answered
              ? html`<th scope="col" class="mark"><abbr title="compare this run">A</abbr></th>
                  <th scope="col" class="mark"><abbr title="against this run">B</abbr></th>`
              : ''
          }
          <th scope="col">suite</th>
          <th scope="col">started, UTC</th>
          <th scope="col">model</th>
          <th scope="col">data</th>
          <th scope="col" class="right">items</th>
          <th scope="col">checks</th>
          <th scope="col">verdict</th>
        </tr>
      </thead>
      <tbody>
        ${model.runs.map((run) => row(run, links))}
      </tbody>
    </table>
  </div>`;
  const empty = html`<p>
    No run${model.query.text === undefined ? html`: make one with <code>npm run bench</code>` : ' matches'}.
  </p>`;
  return html`<h1>Runs</h1>
    ${links.answered ? filter(model) : ''}
    <div data-result="runs">
      ${
        model.runs.length === 0
          ? empty
          : links.answered
            ? html`<form method="get" action="/compare">
                <p class="mark">Mark two runs to compare <b>A</b> with <b>B</b>. <button>Compare</button></p>
                ${table}
              </form>`
            : table
      }
    </div>`;
}
