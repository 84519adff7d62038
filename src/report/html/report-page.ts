import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { RunResults } from '../../store/records/run-results.ts';
import { groupName } from '../../store/run-names.ts';
import { htmlTable } from '../../render/table-html.ts';
import { type Html, readAsset, textList } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { type Table, textCell } from '../../render/table.ts';
import { allTables, checkMarks, checksTable, type DrawnFigure, drawnFigures, shownTables } from '../report-contents.ts';
import { verdictSentences } from '../verdict-sentences.ts';
import { rowLinks } from './row-links.ts';
import { environmentFacts, type Fact, reproduceCommands, settingsFacts } from './run-facts.ts';
import { verdictSection } from './verdict-section.ts';

const style = `\n${readAsset('report.css')}`;
const reportScript = readAsset('report.js').trimEnd();

/** Content Security Policy: allows only the style and script of this page, even if data contain markup. */
const scriptHash = createHash('sha256').update(reportScript).digest('base64');
const contentPolicy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; base-uri 'none'; form-action 'none'`;

/** The script is put here last, after indentation is stripped: the policy has the hash of its exact bytes. */
const SCRIPT_PLACE = '<script></script>';

function checksBySuite(runs: readonly RunResults[]): Table {
  const names = [...new Set(runs.flatMap(({ checks }) => checks.map(({ check }) => check)))];
  return {
    id: 'checks-by-suite',
    caption: 'Checks by suite',
    rowHeading: 'suite',
    blocks: [{ columns: names.map((name) => ({ key: name, heading: name, kind: 'text' })) }],
    rows: runs.map(({ run, checks }) => ({
      label: run.suite,
      cells: Object.fromEntries(checks.map(({ check, status }) => [check, textCell(checkMarks[status])])),
    })),
    notes: ['– : undecided; the checks of the suite give the reason.'],
  };
}

const section = (id: string, title: string, content: unknown): Html =>
  html`<section id="${id}" aria-labelledby="${id}-heading">
    <h2 id="${id}-heading">${title}</h2>
    ${content}
  </section> `;

const drawing = ({ figure, svg }: DrawnFigure): Html =>
  html`<figure>
    <figcaption>${printable(figure.title)}</figcaption>
    ${raw(svg)}
  </figure> `;

/** The other tables of a suite, collapsed. A page of several suites has a link to the suite's own page instead, and stays small. */
function otherTables({ run }: RunResults, others: readonly Html[], several: boolean): Html {
  if (!several) {
    return html`<details>
      <summary>All other tables of this suite: ${others.length}</summary>
      ${others}
    </details>`;
  }
  const page = `${run.name.slice(groupName(run.name).length + 1)}/report.html`;
  return html`<p><a href="${page}">The report of this suite alone</a>, with its ${others.length} other tables.</p>`;
}

async function suite(results: RunResults, several: boolean, lead: DrawnFigure | undefined): Promise<Html> {
  const { run } = results;
  const shown = shownTables(results);
  const others = allTables(results).filter(({ id }) => shown.every((table) => table.id !== id));
  const link = rowLinks(results);
  const drawn = (tables: readonly Table[]) => tables.map((table) => htmlTable(table, run.suite, link));
  const figures = (await drawnFigures(results)).filter((figure) => figure !== lead);
  const parts = [
    several ? textList(verdictSentences(results)) : '',
    ...drawn([checksTable(results), ...shown]),
    figures.length === 0 ? '' : html`<div class="figures">${figures.map(drawing)}</div>`,
    otherTables(results, drawn(others), several),
  ];
  return section(`suite-${run.suite}`, several ? `Suite ${run.suite}` : 'Checks, tables and figures', parts);
}

function factsTable(caption: string, rows: readonly Fact[], suites: number): Html {
  const shown = (suitesOf: readonly string[]) => (suitesOf.length === suites ? '' : ` (${suitesOf.join(', ')})`);
  return html`<table class="facts">
    <caption class="unseen">
      ${caption}
    </caption>
    <tbody>
      ${rows.map(
        ({ label, values }) =>
          html`<tr>
            <th scope="row">${printable(label)}</th>
            <td>${values.map(({ value, suites: names }) => html`<div>${printable(value + shown(names))}</div>`)}</td>
          </tr> `,
      )}
    </tbody>
  </table> `;
}

function notes(runs: readonly RunResults[]): string[] {
  return [...new Set(runs.flatMap(({ run }) => run.notes))].map((note) => {
    const suites = runs.filter(({ run }) => run.notes.includes(note)).map(({ run }) => run.suite);
    return suites.length === runs.length ? note : `${note} (${suites.join(', ')})`;
  });
}

function contents(runs: readonly RunResults[]): Html {
  const links = [
    ['verdict', 'Verdict'],
    ...(runs.length > 1 ? [['checks', 'Checks']] : []),
    ...runs.map(({ run }) => [`suite-${run.suite}`, runs.length > 1 ? run.suite : 'Checks, tables and figures']),
    ['environment', 'Environment'],
    ['settings', 'Settings'],
    ['reproduce', 'Reproduce'],
    ['notes', 'Notes'],
  ] as const;
  return html`<nav aria-label="Contents">
    <ul>
      ${links.map(([id, text]) => html`<li><a href="#${id}">${text}</a></li> `)}
    </ul>
  </nav> `;
}

/** Renders suites of one run name as one HTML document. It needs no network, and all tables are readable without the script. */
export async function renderReport(runs: readonly RunResults[]): Promise<string> {
  const { run } = runs[0]!;
  const several = runs.length > 1;
  const name = printable(several ? groupName(run.name) : run.name);
  const drawn: DrawnFigure[] = [];
  for (const results of runs) drawn.push(...(await drawnFigures(results)));
  const [lead] = drawn;
  const sections: Html[] = [];
  for (const results of runs) sections.push(await suite(results, several, lead));
  const runNotes = notes(runs);
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${contentPolicy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${name}: KV injection against RAG</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <a class="skip" href="#verdict">Skip to the verdict</a>
        <header>
          <h1>${name}: KV injection against RAG</h1>
          <p class="lead">
            ${several ? `${runs.length} suites` : `Suite ${run.suite}`} on ${printable(run.model.name)}, seed
            ${run.seed}, ${run.startedAt.slice(0, 10)}. RAG gives the model retrieved memories as text; KV injection
            (DKI) gives it their attention keys and values. All numbers are computed from stored turns; names of rows
            link to the turns in the viewer, if <code>npx dki-bench inspect</code> is running.
          </p>
          ${contents(runs)}
        </header>
        <main>
          ${verdictSection(runs)}
          ${lead === undefined ? '' : html`<div class="figures lead-figure">${drawing(lead)}</div>`}
          ${several ? section('checks', 'Checks', htmlTable(checksBySuite(runs), 'all')) : ''} ${sections}
          ${section('environment', 'Environment', factsTable('Models, data and machine', environmentFacts(runs), runs.length))}
          ${section('settings', 'Settings', factsTable('Options that the turns depend on', settingsFacts(runs), runs.length))}
          ${section(
            'reproduce',
            'How to reproduce',
            html`<pre tabindex="0"><code>${reproduceCommands(runs).map(printable).join('\n')}</code></pre>`,
          )}
          ${section('notes', 'Notes', runNotes.length === 0 ? html`<p>None.</p>` : textList(runNotes))}
        </main>
        ${raw(SCRIPT_PLACE)}
      </body>
    </html> `;
  // Indentation would make up a third of the file.
  const text = page.toString().replaceAll(/\n\s+/g, '\n');
  return `${text.replace(SCRIPT_PLACE, () => `<script>${reportScript}</script>`).trimEnd()}\n`;
}
