import { present } from '../base/present.ts';
import { busyMachine } from '../bench/busy-machine.ts';
import type { CheckResult, RunResults } from '../store/records/run-results.ts';
import { answersNothing, lackOfProof } from './validity-caveats.ts';
import { comparisonsTables } from './tables/arm-comparisons-tables.ts';
import { answerTable } from './tables/answer-table.ts';
import type { Table } from '../render/table.ts';
import { printable } from '../render/escape-control-characters.ts';
import { renderTerminal, tableWidth } from '../render/table-terminal.ts';
import { coloured, emphasised, hangingText, type Terminal, wrapText } from '../render/terminal-text.ts';
import { breakdownTable } from './topics/categories.ts';
import { namesItsMetric } from './metric-display.ts';
import { checksTable, reportFigures, shownTables, suiteFinding } from './report-contents.ts';
import { formatNumber } from '../render/format-number.ts';
import { headline, modelSize, verdictSentences } from './verdict-sentences.ts';

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
  const ofTokens = tokens && tokens.checks > 0 ? `, ${percent(tokens.checks, tokens.turns)} of tokens` : '';
  const ofTime = percent(checks, turns + scoring + warmUp + measure + judge);
  const parts = present([
    `turns ${seconds(turns)}`,
    `scoring ${seconds(scoring)}`,
    `checks and probes ${seconds(checks)} (${ofTime}${ofTokens})`,
    `warm-up ${seconds(warmUp)}`,
    measure > 0 && `measurements ${seconds(measure)}`,
    judge > 0 && `judge ${seconds(judge)}`,
  ]);
  return [parts.join(', ')];
}

/** Evidence of a failed check beyond this is in the report. */
const MAX_EVIDENCE = 300;
const MAX_ROWS = 7;

/** The finding of a suite's first figure, else of its measurements, else the first sentence on an arm. */
function firstFinding(results: RunResults): string | undefined {
  const [figure] = results.run.suite === 'main' ? [] : reportFigures(results);
  return figure === undefined
    ? (suiteFinding(results) ?? headline(results)[0])
    : `${figure.title.replace(/^Figure \w+\. /, '')}.`;
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
  const { columns } = table.blocks[0]!;
  const rows = table.rows.slice(0, MAX_ROWS);
  const cuts = columns.map((_, more): Table => {
    return { ...table, rows, notes: [], blocks: [{ columns: columns.slice(0, more + 1) }] };
  });
  return cuts.findLast((cut) => tableWidth(cut) <= page.width) ?? cuts[0]!;
}

/** The table of arms or, without arms to compare, the suite's own; undefined without any. */
function firstTable(results: RunResults, page: Terminal): Table | undefined {
  if (answersNothing(results) !== undefined) return undefined;
  const wide = answerTable(results);
  if (wide !== undefined) return tableWidth(wide) <= page.width ? wide : answerTable(results, false);
  const own = shownTables(results).find(({ blocks, rows }) => blocks.length > 0 && rows.length > 0);
  return own && firstPart(own, page);
}

/** Renders the first answer of a run for a terminal: what was kept and saved in a sentence and a table, and the checks. */
export function renderAnswer(results: RunResults, page: Terminal): string {
  const { run } = results;
  const [lack, finding] = [lackOfProof(results), firstFinding(results)];
  const wrapped = (text: string) => wrapText(printable(text), page.width).join('\n');
  const table = firstTable(results, page);
  const subject = `${run.name}: ${run.model.name}, ${modelSize(run.model)}, on ${run.dataset.name}`;
  const blocks = present([
    emphasised(wrapped(subject), page),
    finding !== undefined && wrapped(finding),
    table && renderTerminal(table, page, 'close'),
    present([
      lack !== undefined && coloured(wrapped(`${lack}. Do not quote these numbers.`), 'red', page),
      ...checksLines(results, page),
      ...run.notes.filter((note) => note.startsWith(busyMachine)).map(wrapped),
    ]).join('\n'),
  ]);
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
  const isShown = ({ id }: Table) => !OVER_ALL_TURNS.test(id) && (namesItsMetric(run) || id !== GOLD_COMPARISON);
  const comparisons = comparisonsTables(results).filter(isShown);
  const tablesOfArms = [...shownTables(results), breakdownTable(results, ['phrasing']), ...comparisons];
  const tables = [...(answersNothing(results) === undefined ? tablesOfArms : []), checksTable(results)];
  const list = (heading: string, texts: readonly string[]) =>
    [emphasised(heading, page), ...texts.flatMap((text) => hangingText('- ', printable(text), page.width))].join('\n');
  const { retriever, tokenisation } = run;
  const facts = [
    profileLine(run.profile),
    ...spentLine(run.profile),
    `cold start ${seconds(run.profile.coldStartMs)}; retrieval by ${retriever.name} on ${retriever.backend} ${retriever.version}`,
    `tokenising segments alone: ${tokenisation.differing} of ${tokenisation.tokens} ids differ from the joined text`,
  ];
  const blocks = present([
    ...tables.map((table) => table.blocks.length > 0 && renderTerminal(table, page).trimEnd()),
    list('Verdict', verdictSentences(results)),
    facts.flatMap(wrapped).join('\n'),
    run.notes.length > 0 && list('Notes', run.notes),
    lack !== undefined && coloured(wrapped(lack).join('\n'), 'red', page),
  ]);
  return `${blocks.join('\n\n')}\n`;
}
