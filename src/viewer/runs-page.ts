import { html } from 'hono/html';
import { lackOfProof } from '../report/validity-caveats.ts';
import { headline, verdictSentences } from '../report/verdict-sentences.ts';
import type { Html } from '../render/html.ts';
import { printable } from '../render/escape-control-characters.ts';
import type { BenchDatabase } from '../store/database.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { RunRepository, type RunListEntry } from '../store/run-repository.ts';
import type { Links, RunsQuery } from './links.ts';
import { filterForm, type ListColumn, listTable, numberedLinks, pageOf, pager, textField } from './list-components.ts';

const pageSize = 50;

/** Cache of verdicts: results do not change, and have 100 kB or more to parse. */
const verdicts = new Map<string, ReturnType<typeof runVerdict>>();

function cachedVerdict(database: BenchDatabase, run: RunListEntry) {
  const key = `${database.path}\n${run.id}\n${run.status}\n${run.finishedAt ?? ''}\n${run.resultsBytes ?? ''}`;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const results = run.resultsBytes === null ? null : new RunRepository(database).results(run.id);
  if (results === null) return { checks: null, verdict: `${run.status}: no results yet` };
  const verdict = runVerdict(results);
  verdicts.set(key, verdict);
  return verdict;
}

function runVerdict(results: RunResults) {
  const { passed = [], failed = [] } = Object.groupBy(results.checks, ({ status }) => status);
  return {
    checks: { passed: passed.length, failed: failed.map(({ check }) => check) },
    // Leaves out the last sentence, on scope, which all runs have.
    verdict:
      lackOfProof(results) ?? headline(results)[0] ?? verdictSentences(results).slice(0, -1)[0] ?? 'see its tables',
  };
}

/** Reads a page of the list of runs, latest first. @param size rows per page */
export function readRunsPage(database: BenchDatabase, query: RunsQuery, size = pageSize) {
  const wanted = (query.text ?? '').toLowerCase();
  const all = new RunRepository(database).listEntries().reverse();
  const matching = all.filter(({ name, suite, status, model, dataset }) =>
    [name, suite, status, model, dataset].some((text) => text.toLowerCase().includes(wanted)),
  );
  const { page, pages, shown } = pageOf(matching, size, query.page);
  const runs = shown.map((run) => ({ ...run, ...cachedVerdict(database, run) }));
  return { query, matching: matching.length, page, pages, runs };
}

type RunsPage = ReturnType<typeof readRunsPage>;
type ListedRun = RunsPage['runs'][number];

function checksCell({ checks }: ListedRun): Html {
  if (checks === null) return html`–`;
  if (checks.failed.length > 0) return html`<b class="bad">✗ failed:</b> ${printable(checks.failed.join(', '))}`;
  return html`<b class="good">✓ ${checks.passed} passed</b>`;
}

function markColumn(side: 'a' | 'b'): ListColumn<ListedRun> {
  const word = side === 'a' ? 'compare' : 'against';
  return {
    heading: html`<abbr title="${word} this run">${side.toUpperCase()}</abbr>`,
    look: 'mark',
    cell: ({ name }) =>
      html`<input type="radio" name="${side}" value="${name}" aria-label="${word} ${printable(name)}" />`,
  };
}

function columns(links: Links): ListColumn<ListedRun>[] {
  const time = (startedAt: number): Html => {
    const text = new Date(startedAt).toISOString();
    return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')}</time>`;
  };
  return [
    { heading: 'run', cell: ({ name }) => html`<a data-open href="${links.run(name)}">${printable(name)}</a>` },
    ...(links.answered ? [markColumn('a'), markColumn('b')] : []),
    { heading: 'suite', cell: ({ suite }) => printable(suite) },
    { heading: 'started, UTC', cell: ({ startedAt }) => time(startedAt) },
    { heading: 'model', look: 'name', cell: ({ model }) => printable(model) },
    { heading: 'data', look: 'name', cell: ({ dataset }) => printable(dataset) },
    { heading: 'items', look: 'right', cell: ({ items }) => String(items) },
    { heading: 'checks', cell: checksCell },
    {
      heading: 'verdict',
      look: 'sentence',
      cell: ({ name, checks, verdict }) =>
        html`${printable(verdict)}
        ${checks === null && links.answered ? html`<a href="${links.watch(name)}">Progress</a>` : ''}`,
    },
  ];
}

export function runsPage({ query, runs, matching, page, pages }: RunsPage, links: Links): Html {
  const table = listTable('Runs', 'runs', columns(links), runs);
  const hint = query.text === undefined ? html`: make one with <code>npx dki-bench bench</code>` : ' matches';
  const status = `${matching === 1 ? '1 run' : `${matching} runs`}${pages > 1 ? `, page ${page} of ${pages}` : ''}`;
  const around = numberedLinks(page, pages, (number) => links.runs({ ...query, page: number }));
  const form = html`<form method="get" action="/compare">
    <p class="mark">Mark two runs to compare <b>A</b> with <b>B</b>. <button>Compare</button></p>
    ${table}
  </form>`;
  return html`<h1>Runs</h1>
    ${links.answered ? filterForm({ action: '/', live: 'runs', hidden: {}, fields: textField(query.text) }) : ''}
    <div data-result="runs">
      ${links.answered ? pager(status, around) : ''}
      ${runs.length === 0 ? html`<p>No run${hint}.</p>` : links.answered ? form : table}
    </div>`;
}
