import { html, raw } from 'hono/html';
import type { RunResults } from '../../eval/results.ts';
import { groupOf } from '../../eval/run-name.ts';
import { drawnFigures } from '../figures/drawn-figures.ts';
import { printable } from '../render/printable.ts';
import { type Table, textCell } from '../table.ts';
import { comparisonsTables } from '../tables/comparisons-table.ts';
import { gatesTable } from '../tables/gates-table.ts';
import { reportTables, shownTables } from '../tables/report-tables.ts';
import { verdictSentences } from '../verdict.ts';
import { environmentFacts, type Fact, settingsFacts } from './facts.ts';
import { type Html, htmlTable } from './html-table.ts';
import { reproduceCommands } from './reproduce.ts';
import { style } from './style.ts';
import { list, verdictSection } from './verdict-section.ts';

/** Which gate held in which suite; the evidence stands with each suite. */
function gatesBySuite(runs: readonly RunResults[]): Table {
  const gates = [...new Set(runs.flatMap((run) => [...run.gates, ...run.gatesNotRun].map(({ gate }) => gate)))];
  return {
    id: 'gates-by-suite',
    caption: 'What was proven',
    rowHeading: 'suite',
    blocks: [{ columns: gates.map((gate) => ({ key: gate, heading: gate, align: 'left' })) }],
    rows: runs.map(({ run, gates: judged }) => ({
      label: run.suite,
      cells: Object.fromEntries(judged.map(({ gate, held }) => [gate, textCell(held ? '✓' : '✗')])),
    })),
    notes: ['– : nothing in the run could decide it; the reason stands with the evidence of the suite.'],
  };
}

async function figures(results: RunResults): Promise<Html | string> {
  const drawn = await drawnFigures(results);
  if (drawn.length === 0) return '';
  return html`<div class="figures">
    ${drawn.map(
      ({ figure, svg }) =>
        html`<figure>
          <figcaption>${printable(figure.title)}</figcaption>
          ${raw(svg)}
        </figure> `,
    )}
  </div>`;
}

/** Gates with their evidence, tables and figures of one run: what its suite is about first, the rest to be opened. */
async function suite(results: RunResults, several: boolean): Promise<Html> {
  const { run } = results;
  const id = `suite-${run.suite}`;
  const shown = shownTables(results);
  const names = new Set(shown.map((table) => table.id));
  const others = [...reportTables(results).values(), ...comparisonsTables(results)].filter(
    (table) => !names.has(table.id),
  );
  const drawn = (tables: readonly Table[]) => tables.map((table) => htmlTable(table, run.suite));
  return html`<section id="${id}" aria-labelledby="${id}-heading">
    <h2 id="${id}-heading">${several ? `Suite ${run.suite}` : 'Gates, tables and figures'}</h2>
    ${several ? list(verdictSentences(results)) : ''} ${htmlTable(gatesTable(results), run.suite)} ${drawn(shown)}
    ${await figures(results)}
    <details>
      <summary>All other tables of this suite: ${others.length}</summary>
      ${drawn(others)}
    </details>
  </section> `;
}

function facts(caption: string, rows: readonly Fact[], suites: number): Html {
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

/** The notes of all runs, each with the suites that make it where not all do. */
function notes(runs: readonly RunResults[]): string[] {
  const suites = new Map<string, string[]>();
  for (const { run } of runs) for (const note of run.notes) suites.set(note, [...(suites.get(note) ?? []), run.suite]);
  return [...suites].map(([note, names]) => (names.length === runs.length ? note : `${note} (${names.join(', ')})`));
}

function contents(runs: readonly RunResults[]): Html {
  const links = [
    ['verdict', 'Verdict'],
    ...(runs.length > 1 ? [['gates', 'Gates']] : []),
    ...runs.map(({ run }) => [`suite-${run.suite}`, runs.length > 1 ? run.suite : 'Gates, tables and figures']),
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

/**
 * The report of a run, or of the suites that were made under one name, as one HTML document that needs nothing else: no
 * script, no network, no font. Every text from data is escaped.
 */
export async function renderReport(runs: readonly RunResults[]): Promise<string> {
  const { run } = runs[0]!;
  const several = runs.length > 1;
  const name = printable(several ? groupOf(run.name) : run.name);
  const sections: Html[] = [];
  for (const results of runs) sections.push(await suite(results, several));
  const said = notes(runs);
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${name}: K/V injection against RAG</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <a class="skip" href="#verdict">Skip to the verdict</a>
        <header>
          <h1>${name}: K/V injection against RAG</h1>
          <p class="lead">
            ${several ? `${runs.length} suites` : `Suite ${run.suite}`} on ${printable(run.model.name)}, seed
            ${run.seed}, ${run.startedAt.slice(0, 10)}. RAG gives recalled memories as text; K/V injection (DKI) gives
            their attention keys and values. All numbers are computed from stored turns.
          </p>
          ${contents(runs)}
        </header>
        <main>
          ${verdictSection(runs)}
          ${
            several
              ? html`<section id="gates" aria-labelledby="gates-heading">
                  <h2 id="gates-heading">Gates</h2>
                  ${htmlTable(gatesBySuite(runs), 'all')}
                </section>`
              : ''
          }
          ${sections}
          <section id="environment" aria-labelledby="environment-heading">
            <h2 id="environment-heading">Environment</h2>
            ${facts('What the runs were made with', environmentFacts(runs), runs.length)}
          </section>
          <section id="settings" aria-labelledby="settings-heading">
            <h2 id="settings-heading">Settings</h2>
            ${facts('The options that the turns depend on', settingsFacts(runs), runs.length)}
          </section>
          <section id="reproduce" aria-labelledby="reproduce-heading">
            <h2 id="reproduce-heading">How to reproduce</h2>
            <pre tabindex="0"><code>${reproduceCommands(runs).join('\n')}</code></pre>
          </section>
          <section id="notes" aria-labelledby="notes-heading">
            <h2 id="notes-heading">Notes</h2>
            ${said.length === 0 ? html`<p>None.</p>` : list(said)}
          </section>
        </main>
      </body>
    </html> `;
  // Indentation of the source says nothing to a reader, and is a third of the file.
  return `${page.toString().replaceAll(/\n\s+/g, '\n').trimEnd()}\n`;
}
