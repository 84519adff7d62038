/** Renders the comparison of two runs for a terminal. */
import { present } from '../base/present.ts';
import type { ArmPair } from '../eval/analysis/compare/run-to-compare.ts';
import type { SetupDifference } from '../eval/analysis/compare/setup-differences.ts';
import type {
  ArmFlips,
  FlippedItem,
  ItemAnswers,
  RunsComparison,
  RunSummary,
} from '../eval/analysis/compare/compare-runs.ts';
import type { MetricDifference } from '../eval/analysis/compare/metric-differences.ts';
import { printable } from '../render/escape-control-characters.ts';
import {
  estimateCell,
  intervalColumn,
  itemRows,
  numberCell,
  numberColumn,
  type Table,
  textColumn,
} from '../render/table.ts';
import { formatNumber, formatRatio } from '../render/format-number.ts';
import { renderTerminal } from '../render/table-terminal.ts';
import { coloured, emphasised, hangingText, type Terminal, wrapText } from '../render/terminal-text.ts';
import { groupName } from '../store/run-names.ts';
import { countColumns, ratioCell, testColumns, verdictText } from './tables/arm-comparisons-tables.ts';

/** Metrics shown beside the primary one; `--json` gives all. */
const SHOWN = ['abstention', 'taskSuccess'];
const MAX_FLIPS = 20;

/** The name of a pair: `rag`, or `rag / dki` for different arms of the two runs. */
const pairName = ({ a, b }: ArmPair): string => (a === b ? a : `${a} / ${b}`);

function qualityTable({ a, b, differences, metrics, primary }: RunsComparison): Table {
  const shown = differences.flatMap((difference) => {
    const { metric } = difference;
    const declared = metrics.find(({ name }) => name === metric);
    if (declared === undefined || (metric !== primary && !SHOWN.includes(metric))) return [];
    const [scale, digits] = declared.unit === '%' ? ([100, 1] as const) : ([1, 3] as const);
    return [{ ...difference, declared, scale, digits }];
  });
  // If units differ, each row names its unit.
  const isMixed = shown.some(({ declared }) => declared.unit !== '%');
  const [value, points] = isMixed ? ['', ''] : [' (%)', ' (pp)'];
  return {
    id: 'compare-quality',
    caption: `Quality: ${a.name} (A) against ${b.name} (B), paired by item`,
    rowHeading: 'arm: metric',
    ...itemRows(
      shown,
      ({ arms, declared }) => `${pairName(arms)}: ${declared.label}${isMixed ? `, ${declared.unit}` : ''}`,
      [
        {
          columns: [
            numberColumn('meanA', `A${value}`, ({ meanA, scale, digits }) => numberCell(meanA * scale, digits)),
            numberColumn('meanB', `B${value}`, ({ meanB, scale, digits }) => numberCell(meanB * scale, digits)),
            intervalColumn('difference', `A − B${points}`, (one) => estimateCell(one, one.scale, one.digits)),
            textColumn('verdict', 'verdict', (one) => verdictText(one)),
          ],
        },
        { columns: [...testColumns(true), ...countColumns] },
      ],
    ),
    notes: [
      'Intervals and p are over users. Holm: adjusted over the arms of one metric. p (kept): for a loss of the margin or more, adjusted likewise.',
      'Other metrics, such as token F1 and the log-probability of the gold: see --json.',
    ],
  };
}

function costTable({ differences }: RunsComparison, metric: 'evaluatedTokens' | 'ttftLogRatio'): Table {
  const isTime = metric === 'ttftLogRatio';
  const unit = isTime ? ' (ms)' : '';
  const rows = differences.filter((one) => one.metric === metric);
  return {
    id: isTime ? 'compare-ttft' : 'compare-evaluated-tokens',
    caption: `${isTime ? 'Time to first token' : 'Tokens evaluated per turn'}, over cache hits of both runs`,
    rowHeading: 'arm',
    ...itemRows<MetricDifference>(rows, ({ arms }) => pairName(arms), [
      {
        columns: [
          numberColumn('meanA', `A${unit}`, ({ meanA }) => meanA),
          numberColumn('meanB', `B${unit}`, ({ meanB }) => meanB),
          isTime
            ? intervalColumn('difference', 'A ÷ B (%)', (one) => ratioCell(one, 100))
            : intervalColumn('difference', 'A − B (tokens)', (one) => one),
        ],
      },
      { columns: countColumns },
    ]),
    notes: isTime
      ? [
          'A and B are geometric means over the same turns; their ratio is A ÷ B.',
          'No verdict: the runs were made at different times, and no twin arm measures the noise between them.',
        ]
      : [],
  };
}

const differenceInWords = ({ what, a, b }: SetupDifference): string => `${what}: ${a} / ${b}`;

/** The reason why the numbers of a run must not be quoted; undefined if it is finished and no check failed. */
export function runCaveat({ name, status, failedChecks }: RunSummary): string | undefined {
  if (failedChecks.length > 0) {
    return `NOT PROVEN: ${failedChecks.length === 1 ? 'check' : 'checks'} ${failedChecks.join(', ')} of ${name} failed`;
  }
  if (status === 'finished') return undefined;
  const goOn = status === 'failed' ? '' : `; continue it: npx dki-bench bench --resume ${groupName(name)}`;
  return `NOT COMPLETE: ${name} is ${status}, its checks are undecided${goOn}`;
}

export function objections({ a, b, forced }: RunsComparison): string[] {
  return present([
    forced.length > 0 && `FORCED: the runs differ in ${forced.map(differenceInWords).join('; ')}`,
    ...[a, b].map(runCaveat),
  ]);
}

function answersText({ answers, right }: ItemAnswers): string {
  const distinct = new Set(answers.map((answer) => JSON.stringify(answer.trim())));
  const given = [...distinct].join(' | ');
  return answers.length === 1 ? given : `${given} (right in ${formatNumber(right * 100, 0)} % of ${answers.length})`;
}

function flipLines({ itemId, outcome, question, gold, a, b }: FlippedItem, page: Terminal): string[] {
  const mark = outcome === 'won' ? coloured('+', 'green', page) : coloured('−', 'red', page);
  const indented = (text: string): string[] =>
    wrapText(printable(text), page.width - 4).map((line, index) => (index === 0 ? '  ' : '    ') + line);
  return [
    ...hangingText(`${mark} `, printable(`${itemId} ${question}`), page.width),
    ...indented(`gold ${gold === null ? 'none: abstain' : JSON.stringify(gold)}`),
    ...indented(`A    ${answersText(a)}`),
    ...indented(`B    ${answersText(b)}`),
  ];
}

function flipsText(flips: readonly ArmFlips[], page: Terminal): string {
  let left = MAX_FLIPS;
  const lines = flips.flatMap(({ arms, wins, losses, ties, items }) => {
    const shown = items.slice(0, left);
    left -= shown.length;
    const more = items.length - shown.length;
    return [
      emphasised(printable(`${pairName(arms)}: ${wins} won, ${losses} lost, ${ties} tied`), page),
      ...shown.flatMap((item) => flipLines(item, page)),
      ...(more > 0 ? [`  … and ${more} more: --json lists all`] : []),
    ];
  });
  return [emphasised('Flipped items (won: A is right where B is not)', page), ...lines].join('\n');
}

/** True if no metric of any item differs, nor the tokens evaluated; times always differ a little. */
function isUnchanged({ differences, settings, forced, notes }: RunsComparison): boolean {
  const others = differences.filter(({ metric }) => metric !== 'ttftLogRatio');
  const same = others.every(({ delta, wins, losses }) => delta === 0 && wins + losses === 0);
  return same && others.length > 0 && [settings, forced, notes].every(({ length }) => length === 0);
}

/** `Nothing changed: all answers score the same (rag, dki). Time to first token, A ÷ B: rag 1.02 [0.98, 1.06], …` */
function unchangedText({ differences, machines }: RunsComparison): string {
  const arms = [...new Set(differences.map(({ arms: pair }) => pairName(pair)))];
  const times = differences.filter(({ metric }) => metric === 'ttftLogRatio');
  const ratios = times.map((one) => `${pairName(one.arms)} ${formatRatio(one)}`).join(', ');
  const apart = machines.length === 0 ? '' : ` Times are not compared: ${machines.map(differenceInWords).join('; ')}.`;
  const compared = ratios === '' ? apart : ` Time to first token, A ÷ B: ${ratios}.`;
  return `Nothing changed: all answers score the same (${arms.join(', ')}).${compared}`;
}

export function renderRunsComparison(comparison: RunsComparison, page: Terminal): string {
  const { a, b, settings, machines, flips, notes } = comparison;
  const wrapped = (text: string): string => wrapText(printable(text), page.width).join('\n');
  const about = ({ name, suite, startedAt, model, dataset, status }: RunSummary): string =>
    `${name}: suite ${suite}, ${model} on ${dataset}, ${startedAt.slice(0, 16).replace('T', ' ')}, ${status}`;
  const both = [`A ${about(a)}`, `B ${about(b)}`];
  const caveats = objections(comparison).map((text) => coloured(wrapped(text), 'red', page));
  if (isUnchanged(comparison)) {
    return `${[...[...both, unchangedText(comparison)].map(wrapped), ...caveats].join('\n')}\n`;
  }
  const differing = settings.length === 0 ? 'nothing' : settings.map(differenceInWords).join('; ');
  const costs = (['evaluatedTokens', 'ttftLogRatio'] as const).map((metric) => costTable(comparison, metric));
  const tables = [qualityTable(comparison), ...costs].filter(({ rows }) => rows.length > 0);
  const blocks = present([
    [...both, `settings and code differ (A / B) in ${differing}`, ...notes].map(wrapped).join('\n'),
    ...tables.map((table) => renderTerminal(table, page).trimEnd()),
    machines.length > 0 &&
      wrapped(`Times are not compared: the machines differ in ${machines.map(differenceInWords).join('; ')}`),
    flips.length > 0 && flipsText(flips, page),
    ...caveats,
  ]);
  return `${blocks.join('\n\n')}\n`;
}
