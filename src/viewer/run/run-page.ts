import { html } from 'hono/html';
import { htmlTable } from '../../render/table-html.ts';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import type { Table } from '../../render/table.ts';
import { allTables, checksTable, reportFigures, shownTables } from '../../report/report-contents.ts';
import { rowLinks } from '../../report/html/row-links.ts';
import { verdictSection } from '../../report/html/verdict-section.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { findRunByName } from '../../eval/analysis/results-from-stored-turns.ts';
import { isUnfinished, unfinishedResults } from '../../eval/analysis/unfinished-run-results.ts';
import { unknownNameError } from '../../base/bench-error.ts';
import { usualPair } from '../compare/default-arm-pair.ts';
import { type MatrixOptions, matrixSection, readMatrix } from '../matrix/item-arm-matrix.ts';
import type { Links, MatrixQuery } from '../links.ts';
import { filterForm, options, select } from '../list-components.ts';
import { resumption } from '../watch/watch-page.ts';

/** Reads the page of a run. @throws BenchError `not-found` for an unknown name */
export function readRunPage(database: BenchDatabase, name: string, query: MatrixQuery, options: MatrixOptions = {}) {
  const run = findRunByName(database, name);
  const matrix = readMatrix(database, name, query, options);
  const results = new RunRepository(database).results(run.id) ?? resultsSoFar(database, run);
  return { run, results, matrix };
}

/** The results of the users of an unfinished run with all turns written; null before the first. */
function resultsSoFar(database: BenchDatabase, run: RunRecord): RunResults | null {
  if (!isUnfinished(run)) return null;
  const underWay = new UserClaimRepository(database, run.id).unfinished();
  return unfinishedResults(run, new TurnRepository(database).listForResults(run.id), underWay).results;
}

/** The content of the page of a run. `results` is null until the first user is finished. */
export type RunPage = ReturnType<typeof readRunPage>;

/** Makes a function that reads a table or figure of a run by id, which throws BenchError `not-found`. */
const drawingReader =
  <Drawing extends { readonly id: string }>(what: string, draw: (results: RunResults) => readonly Drawing[]) =>
  (database: BenchDatabase, name: string, id: string): Drawing => {
    const results = new RunRepository(database).results(findRunByName(database, name).id);
    const drawings = new Map(results === null ? [] : draw(results).map((drawing) => [drawing.id, drawing]));
    const found = drawings.get(id);
    if (found !== undefined) return found;
    throw unknownNameError(`run "${name}" has no ${what}`, id, [...drawings.keys()]);
  };

export const readTable = drawingReader('table', allTables);

export const readFigure = drawingReader('figure', reportFigures);

/** Checks, tables and figures, folded. */
function resultSections(results: RunResults, run: string, links: Links): Html {
  const tables = [checksTable(results), ...shownTables(results)];
  const others = allTables(results).filter(({ id }) => tables.every((table) => table.id !== id));
  const figures = reportFigures(results);
  const link = links.answered ? rowLinks(results, (filter) => `${links.run(run, filter)}#items`) : undefined;
  return html`<details id="checks">
      <summary>Checks and tables</summary>
      ${tables.map((table) => htmlTable(table, 'run', link))} ${others.length === 0 ? '' : html`<p>Other tables:</p>`}
      <ul>
        ${others.map(({ id, caption }) => html`<li><a href="${links.table(run, id)}">${printable(caption)}</a></li> `)}
      </ul>
    </details>
    ${
      figures.length === 0
        ? ''
        : html`<details id="figures">
            <summary>Figures</summary>
            <div class="figures">
              ${figures.map(
                ({ id, title, description }) =>
                  html`<figure>
                    <figcaption>${printable(title)}</figcaption>
                    <a href="${links.figure(run, id)}"
                      ><img src="${links.figure(run, id)}" alt="${printable(description)}" loading="lazy"
                    /></a>
                  </figure> `,
              )}
            </div>
          </details>`
    } `;
}

function unfinishedNote({ run: { name, status }, results }: RunPage, links: Links): Html {
  return html`<p class="verdict failed">
    The run is ${status}${results === null ? ' and has no results yet' : ''}.
    ${links.answered ? html`<a href="${links.watch(name)}">Its progress</a>.` : ''}
    ${status === 'running' ? 'If its process is gone, continue it:' : 'Continue it:'} ${resumption(name)}
  </p>`;
}

/** The page of a run: verdict, the matrix of items and arms, and folded tables and figures. @param note shown above the contents */
export function runPage(model: RunPage, links: Links, note?: Html): Html {
  const { run, results, matrix } = model;
  const { name, suite, seed, status } = run;
  const started = new Date(run.startedAt).toISOString().slice(0, 10);
  const summary = `Suite ${suite} on ${run.model.name}, ${run.dataset.name}, seed ${seed}, ${started}, ${status}.`;
  const isFirst = (matrix.query.page ?? 1) === 1;
  return html`<h1>${printable(name)}</h1>
    <p class="lead">${printable(summary)}</p>
    ${note ?? ''} ${isFirst && (status !== 'finished' || results === null) ? unfinishedNote(model, links) : ''}
    ${isFirst && results !== null ? verdictSection([results]) : ''} ${links.answered ? armsForm(model) : ''}
    ${matrixSection(matrix, links)} ${isFirst && results !== null ? resultSections(results, name, links) : ''}`;
}

function armsForm({ run: { name: run, plan }, matrix: { values } }: RunPage): Html | string {
  if (values.arms.length < 2) return '';
  const [a, b] = usualPair(plan.arms, values.arms);
  const arms = options(values.arms);
  const fields = [select('armA', 'compare arm', a, arms), select('armB', 'against', b, arms)];
  return html`<details class="tools">
    <summary>Compare two arms</summary>
    ${filterForm({ action: '/compare', hidden: { a: run, b: run }, fields, button: 'Compare' })}
  </details>`;
}

export function withoutOutcomes({ run: { name } }: RunPage): Html {
  return html`<p class="note">
    This report has no outcomes of its turns: its matrix is empty. To add them, on the machine with its database:
    <code>npx dki-bench tables --run ${printable(name)} --write</code>.
  </p>`;
}

export function tablePage(table: Table): Html {
  return html`<h1>${printable(table.caption)}</h1>
    ${htmlTable(table, 'table')}`;
}
