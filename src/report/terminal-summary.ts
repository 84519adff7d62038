import type { RunResults } from '../store/records/run-results.ts';
import { answersNothing, lackOfProof } from './validity-caveats.ts';
import { comparisonsTables } from './tables/arm-comparisons-tables.ts';
import { checksTable } from './tables/checks-table.ts';
import { printable } from '../render/escape-control-characters.ts';
import { renderTerminal } from '../render/table-terminal.ts';
import { coloured, emphasised, type Terminal } from '../render/terminal-style.ts';
import { phrasingTable } from './tables/breakdown-tables.ts';
import { namesItsMetric } from './metric-display.ts';
import { shownTables } from './tables/report-tables.ts';
import { formatNumber } from '../render/format-number.ts';
import { hangingText, wrapText } from '../render/wrap-text.ts';
import { verdictSentences } from './verdict-sentences.ts';

/** Table that only the report shows, unless the data name their metric. */
const GOLD_COMPARISON = 'comparisons-gold-log-prob';

/** Tables that only the report shows, since table 1 has the means over all turns. */
const OVER_ALL_TURNS = /^comparisons-.*-all$/;

const seconds = (ms: number) => `${formatNumber(ms / 1000, ms < 10_000 ? 1 : 0)} s`;

/** The wall time of a run by part: `wall 93 s = model 88 s (94.6 %) + embedder 0.2 s + bench 4.8 s`. */
export function profileLine({ wallMs, modelMs, embedderMs }: RunResults['run']['profile']): string {
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

/**
 * Renders the end of a run for a terminal: tables, comparisons, checks, verdict, times and notes. A run in which the model answers
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
          phrasingTable(results),
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
