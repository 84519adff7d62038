import { busyMachine } from '../bench/busy-machine.ts';
import type { CheckResult, RunResults } from '../store/records/run-results.ts';
import { answersNothing, lackOfProof } from './validity-caveats.ts';
import { comparisonsTables } from './tables/arm-comparisons-tables.ts';
import { answerTable } from './tables/answer-table.ts';
import { checksTable } from './tables/checks-table.ts';
import type { Table } from '../render/table.ts';
import { printable } from '../render/escape-control-characters.ts';
import { renderTerminal, tableWidth } from '../render/table-terminal.ts';
import { coloured, emphasised, type Terminal } from '../render/terminal-style.ts';
import { breakdownTable } from './tables/breakdown-tables.ts';
import { namesItsMetric } from './metric-display.ts';
import { shownTables } from './tables/report-tables.ts';
import { formatNumber } from '../render/format-number.ts';
import { hangingText, wrapText } from '../render/wrap-text.ts';
import { reportFigures } from './figures/report-figures.ts';
import { headline } from './headline.ts';
import { modelSize, verdictSentences } from './verdict-sentences.ts';

/** Table that only the report shows, unless the data name their metric. */
const GOLD_COMPARISON = 'comparisons-gold-log-prob';

/** Tables that only the report shows, since table 1 has the means over all turns. */
const OVER_ALL_TURNS = /^comparisons-.*-all$/;

const seconds = (ms: number) => `${formatNumber(ms / 1000, ms < 10_000 ? 1 : 0)} s`;

/** The wall time of a run by part: `wall 93 s = model 88 s (94.6 %) + embedder 0.2 s + bench 4.8 s`. Those of processes side by side add up to more. */
export function profileLine({ wallMs, modelMs, embedderMs }: RunResults['run']['profile']): string {
  if (modelMs + embedderMs > wallMs) {
    return `wall ${seconds(wallMs)}; over all processes: model ${seconds(modelMs)}, embedder ${seconds(embedderMs)}`;
  }
  const share = wallMs === 0 ? 0 : (modelMs / wallMs) * 100;
  const rest = seconds(Math.max(0, wallMs - modelMs - embedderMs));
  return `wall ${seconds(wallMs)} = model ${seconds(modelMs)} (${formatNumber(share, 1)} %) + embedder ${seconds(embedderMs)} + bench ${rest}`;
}

/** The time of a run by phase: `turns 52 s, scoring 12 s, checks and probes 9 s (12 %, 9 % of tokens), warm-up 1 s`; empty for runs of old versions. */
function spentLine({ spent, evaluatedTokens: tokens }: RunResults['run']['profile']): string[] {
  if (spent === undefined) return [];
  const { turns, scoring, checks, warmUp, measure, judge = 0 } = spent;
  const percent = (part: number, rest: number) => `${formatNumber(part === 0 ? 0 : (part / (part + rest)) * 100, 0)} %`;
  const ofTokens = tokens && tokens.checks > 0 ? [`${percent(tokens.checks, tokens.turns)} of tokens`] : [];
  const shares = [percent(checks, turns + scoring + warmUp + measure + judge), ...ofTokens];
  const parts = [
    `turns ${seconds(turns)}`,
    `scoring ${seconds(scoring)}`,
    `checks and probes ${seconds(checks)} (${shares.join(', ')})`,
    `warm-up ${seconds(warmUp)}`,
    ...(measure === 0 ? [] : [`measurements ${seconds(measure)}`]),
    ...(judge === 0 ? [] : [`judge ${seconds(judge)}`]),
  ];
  return [parts.join(', ')];
}

/** Evidence of a failed check beyond this is in the report. */
const MAX_EVIDENCE = 300;
const MAX_ROWS = 7;

/** The finding of a suite's first figure, else the first sentence on an arm; undefined where neither says something. */
function firstFinding(results: RunResults): string | undefined {
  const [figure] = results.run.suite === 'main' ? [] : reportFigures(results);
  return figure === undefined ? headline(results)[0] : `${figure.title.replace(/^Figure \w+\. /, '')}.`;
}

/** `14 of 14 checks passed`, with the names of the undecided if they fit, and the failed ones with their evidence. */
function checksLines({ checks }: Pick<RunResults, 'checks'>, page: Terminal): string[] {
  const having = (wanted: CheckResult['status']) => checks.filter(({ status }) => status === wanted);
  const failed = having('failed').flatMap(({ check, evidence }) =>
    hangingText('✗ ', printable(`${check}: ${evidence.slice(0, MAX_EVIDENCE)}`), page.width),
  );
  const undecided = having('undecided').map(({ check }) => check);
  const passed = `${having('passed').length} of ${checks.length} checks passed`;
  const count = undecided.length === 0 ? passed : `${passed}, ${undecided.length} not decided in this run`;
  const named = `${count}: ${undecided.join(', ')}`;
  return [
    ...failed.map((line) => coloured(line, 'red', page)),
    undecided.length > 0 && named.length <= page.width ? named : count,
  ];
}

/** The first columns and rows of a table, as many as fit. */
function firstPart(table: Table, page: Terminal): Table {
  const [block] = table.blocks;
  const rows = table.rows.slice(0, MAX_ROWS);
  const cut = (count: number): Table => ({
    ...table,
    rows,
    notes: [],
    blocks: [{ columns: block!.columns.slice(0, count) }],
  });
  const counts = block!.columns.map((_, index) => block!.columns.length - index);
  return cut(counts.find((count) => tableWidth(cut(count)) <= page.width) ?? 1);
}

/** The table of arms or, without arms to compare, the suite's own; undefined without any. */
function firstTable(results: RunResults, page: Terminal): Table | undefined {
  if (answersNothing(results) !== undefined) return undefined;
  const wide = answerTable(results);
  if (wide !== undefined) return tableWidth(wide) <= page.width ? wide : answerTable(results, false);
  const [own] = shownTables(results).filter(({ blocks, rows }) => blocks.length > 0 && rows.length > 0);
  return own && firstPart(own, page);
}

/** Renders the first answer of a run for a terminal: what was kept and saved in a sentence and a table, and the checks. */
export function renderAnswer(results: RunResults, page: Terminal): string {
  const { run } = results;
  const [lack, finding] = [lackOfProof(results), firstFinding(results)];
  const wrapped = (text: string) => wrapText(printable(text), page.width).join('\n');
  const table = firstTable(results, page);
  const subject = `${run.name}: ${run.model.name}, ${modelSize(run.model)}, on ${run.dataset.name}`;
  const blocks = [
    emphasised(wrapped(subject), page),
    ...(finding === undefined ? [] : [wrapped(finding)]),
    ...(table === undefined ? [] : [renderTerminal(table, page, 'close')]),
    [
      ...(lack === undefined ? [] : [coloured(wrapped(`${lack}. Do not quote these numbers.`), 'red', page)]),
      ...checksLines(results, page),
      ...run.notes.filter((note) => note.startsWith(busyMachine)).map(wrapped),
    ].join('\n'),
  ];
  return `${blocks.map((block) => block.trimEnd()).join('\n\n')}\n`;
}

/**
 * Renders a whole run for a terminal (`--verbose`): tables, comparisons, checks, verdict, times and notes. A run in which the model answers
 * nothing has no tables of arms here: the report has them.
 */
export function renderSummary(results: RunResults, page: Terminal): string {
  const { run } = results;
  const lack = lackOfProof(results);
  const wrapped = (text: string) => wrapText(printable(text), page.width);
  const listed = (text: string) => hangingText('- ', printable(text), page.width);
  const tablesOfArms =
    answersNothing(results) === undefined
      ? [
          ...shownTables(results),
          breakdownTable(results, ['phrasing']),
          ...comparisonsTables(results).filter(
            ({ id }) => !OVER_ALL_TURNS.test(id) && (namesItsMetric(run) || id !== GOLD_COMPARISON),
          ),
        ]
      : [];
  const tables = [...tablesOfArms, checksTable(results)].filter(({ blocks }) => blocks.length > 0);
  const heading = (text: string) => emphasised(text, page);
  const { retriever, tokenisation } = run;
  const blocks = [
    ...tables.map((table) => renderTerminal(table, page).trimEnd()),
    [heading('Verdict'), ...verdictSentences(results).flatMap(listed)].join('\n'),
    [
      profileLine(run.profile),
      ...spentLine(run.profile),
      `cold start ${seconds(run.profile.coldStartMs)}; retrieval by ${retriever.name} on ${retriever.backend} ${retriever.version}`,
      `tokenising segments alone: ${tokenisation.differing} of ${tokenisation.tokens} ids differ from the joined text`,
    ]
      .flatMap(wrapped)
      .join('\n'),
    ...(run.notes.length === 0 ? [] : [[heading('Notes'), ...run.notes.flatMap(listed)].join('\n')]),
    ...(lack === undefined ? [] : [coloured(wrapped(lack).join('\n'), 'red', page)]),
  ];
  return `${blocks.join('\n\n')}\n`;
}
