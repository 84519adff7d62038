import type { RunDifference } from '../eval/analysis/compare/comparability.ts';
import type { RunsComparison, RunSummary } from '../eval/analysis/compare/compare-runs.ts';
import type { ArmFlips, FlippedItem, ItemAnswers } from '../eval/analysis/compare/flips.ts';
import { printable } from '../render/printable.ts';
import { coloured, emphasised, type Page, renderTerminal } from '../render/terminal.ts';
import { pairName, runsComparisonTables } from './runs-comparison-tables.ts';
import { formatNumber } from '../render/table.ts';
import { wrapText } from '../render/text-width.ts';

const MOST_FLIPS = 20;

const differenceInWords = ({ what, a, b }: RunDifference): string => `${what}: ${a} / ${b}`;

/** The reason why the numbers of a run must not be quoted; undefined if it is finished and no check failed. */
export function lackOfRun({ name, status, failedChecks }: RunSummary): string | undefined {
  if (failedChecks.length > 0) {
    return `NOT PROVEN: ${failedChecks.length === 1 ? 'check' : 'checks'} ${failedChecks.join(', ')} of ${name} failed`;
  }
  if (status === 'finished') return undefined;
  const goOn = status === 'failed' ? '' : `; continue it: npm run bench -- --resume ${name}`;
  return `NOT COMPLETE: ${name} is ${status}, its checks are not decided${goOn}`;
}

/** Objections to the comparison as a whole. */
export function objections({ a, b, forced }: RunsComparison): string[] {
  return [
    ...(forced.length === 0 ? [] : [`FORCED: the runs differ in ${forced.map(differenceInWords).join('; ')}`]),
    ...[a, b].flatMap((run) => lackOfRun(run) ?? []),
  ];
}

function shownAnswers({ answers, right }: ItemAnswers): string {
  const given = [...new Set(answers.map((answer) => answer.trim()))]
    .map((answer) => JSON.stringify(answer))
    .join(' | ');
  return answers.length === 1 ? given : `${given} (right in ${formatNumber(right * 100, 0)} % of ${answers.length})`;
}

function flipLines({ itemId, outcome, question, gold, a, b }: FlippedItem, page: Page): string[] {
  const mark = outcome === 'won' ? coloured('+', 'green', page) : coloured('−', 'red', page);
  const indented = (text: string): string[] =>
    wrapText(printable(text), page.width - 4).map((line, index) => (index === 0 ? '  ' : '    ') + line);
  const [first = '', ...rest] = wrapText(printable(`${itemId} ${question}`), page.width - 2);
  return [
    `${mark} ${first}`,
    ...rest.map((line) => `  ${line}`),
    ...indented(`gold ${gold === null ? 'none: abstain' : JSON.stringify(gold)}`),
    ...indented(`A    ${shownAnswers(a)}`),
    ...indented(`B    ${shownAnswers(b)}`),
  ];
}

/** The flips of all arms in one list, cut after the first ones. */
function flipsText(flips: readonly ArmFlips[], page: Page): string {
  let left = MOST_FLIPS;
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

/** Renders the comparison of two runs for a terminal. */
export function renderRunsComparison(comparison: RunsComparison, page: Page): string {
  const { a, b, settings, machines, flips, notes } = comparison;
  const wrapped = (text: string): string => wrapText(printable(text), page.width).join('\n');
  const about = ({ name, suite, startedAt, model, dataset, status }: RunSummary): string =>
    `${name}: suite ${suite}, ${model} on ${dataset}, ${startedAt.slice(0, 16).replace('T', ' ')}, ${status}`;
  const differing = settings.length === 0 ? 'in nothing' : `in ${settings.map(differenceInWords).join('; ')}`;
  const blocks = [
    [
      wrapped(`A ${about(a)}`),
      wrapped(`B ${about(b)}`),
      wrapped(`settings and code differ (A / B) ${differing}`),
      ...notes.map(wrapped),
    ].join('\n'),
    ...runsComparisonTables(comparison).map((table) => renderTerminal(table, page).trimEnd()),
    ...(machines.length === 0
      ? []
      : [wrapped(`Times are not compared: the machines differ in ${machines.map(differenceInWords).join('; ')}`)]),
    ...(flips.length === 0 ? [] : [flipsText(flips, page)]),
    ...objections(comparison).map((text) => coloured(wrapped(text), 'red', page)),
  ];
  return `${blocks.join('\n\n')}\n`;
}
