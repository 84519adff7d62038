/** The table and the figure of `dki-bench estimate`. */
import { present } from '../base/present.ts';
import type { ArmEstimate, BreakEven, TraceSummary } from '../eval/run/estimate/estimate-traffic.ts';
import { type Figure, PANEL_WIDTH } from '../render/figure.ts';
import { countText, formatNumber, groupedNumber } from '../render/format-number.ts';
import {
  countColumn,
  itemRows,
  numberColumn,
  partColumns,
  type Table,
  textCell,
  textColumn,
  titled,
} from '../render/table.ts';
import { type ArmsWithTraits, asLines, curveEncoding } from './figures/arm-encoding.ts';
import { fieldQuantity, layer } from './figures/figure-parts.ts';

/** An estimate of traffic, as `dki-bench estimate` shows it. */
export interface TrafficEstimate {
  readonly trace: TraceSummary;
  readonly model: string;
  readonly arms: readonly ArmEstimate[];
  readonly breakEven: BreakEven;
  /** What was taken for granted, a sentence each. */
  readonly assumed: readonly string[];
}

const MEGABYTE = 1e6;
const GIGABYTE = 1e9;
const MS_PER_HOUR = 3_600_000;

/** `dki-bench estimate`: an arm a row. */
export function estimateTable({ trace, model, arms, breakEven, assumed }: TrafficEstimate): Table {
  const ofPrompt = (tokens: number): number => (100 * tokens) / trace.meanPromptTokens;
  const reusing = (row: ArmEstimate) => (row.reuses === 'nothing' ? undefined : row);
  const median = ({ percentilesMs }: ArmEstimate): number => percentilesMs[50]!;
  // Of small models all times are below a millisecond.
  const digits = median(arms[0]!) < 10 ? 2 : 0;
  return {
    id: 'estimate',
    caption: `Estimate for ${trace.name} on ${model}`,
    rowHeading: 'arm',
    ...itemRows(arms, ({ arm }) => arm, [
      titled('Time to first token', [
        numberColumn('p50', 'p50 (ms)', median, digits),
        numberColumn('p95', 'p95 (ms)', (row) => (trace.counts.turns < 100 ? null : row.percentilesMs[95]!), digits),
        numberColumn('ratio', 'mean × rag', ({ meanMs }) => meanMs / arms[0]!.meanMs, 2),
        numberColumn('pays', 'pays from turn', ({ arm, paysFromTurn }) =>
          arm === 'rag' ? null : paysFromTurn === null ? textCell('never') : textCell(groupedNumber(paysFromTurn)),
        ),
      ]),
      titled('Per turn', [
        textColumn('reuses', 'reuses', ({ reuses }) => reuses),
        countColumn('evaluated', 'tokens evaluated', ({ perTurn }) => perTurn.evaluated),
        ...partColumns(reusing, [
          numberColumn('hits', 'hits (%)', ({ hitRate }) => 100 * hitRate),
          numberColumn('memory', 'found in RAM (%)', ({ perTurn }) => ofPrompt(perTurn.memory)),
          numberColumn('disk', 'found on disk (%)', ({ perTurn }) => ofPrompt(perTurn.disk)),
        ]),
      ]),
      titled(
        'Bytes of KV (GB)',
        partColumns(reusing, [
          numberColumn('ram', 'in RAM', ({ stored }) => stored.memory.sizeBytes / GIGABYTE, 2),
          numberColumn('onDisk', 'on disk', ({ stored }) => stored.disk.sizeBytes / GIGABYTE, 2),
          numberColumn('read', 'read', ({ readBytes }) => readBytes / GIGABYTE, 2),
          numberColumn('written', 'written', ({ stored }) => stored.disk.writtenBytes / GIGABYTE, 2),
        ]),
      ),
    ]),
    notes: present([
      fastestText(arms),
      traceText(trace),
      breakEvenText(breakEven, trace.meanPromptTokens),
      'Hits: turns that found all memories, or for a prefix cache anything. Found: share of the tokens of the prompt.',
      trace.idsOf === 'prefix' && 'This trace names prefixes: which blocks come back in other orders is not in it.',
      `Assumed: ${assumed.join('; ')}.`,
    ]),
  };
}

/** The fastest arm, and where it joins blocks the fastest that does not. */
function fastestText(arms: readonly ArmEstimate[]): string {
  const least = (some: readonly ArmEstimate[]): ArmEstimate => some.reduce((a, b) => (b.meanMs < a.meanMs ? b : a));
  const named = (one: ArmEstimate): string => `${one.arm} (${formatNumber(one.meanMs / arms[0]!.meanMs, 2)} × rag)`;
  const fastest = least(arms);
  if (fastest === arms[0]) return `Fastest: ${fastest.arm}; no reuse saves time here.`;
  if (fastest.reuses !== 'blocks') return `Fastest: ${named(fastest)}.`;
  const exact = least(arms.filter(({ reuses }) => reuses !== 'blocks'));
  return `Fastest: ${named(fastest)}, but joined blocks change answers: suite main measures how many. Of arms with the KV of text: ${named(exact)}.`;
}

function breakEvenText({ tokens, readBytesPerSecond: speed }: BreakEven, meanTokens: number): string {
  const from = (least: number | null): string => (least === null ? 'never' : `from ${countText(least, 'token')} on`);
  const fastEnough = speed === null ? 'at no speed of the disk' : `from ${speedText(speed)} on`;
  return [
    `KV is there sooner than its text is evaluated: from RAM ${from(tokens.memory)}, from disk ${from(tokens.disk)};`,
    `for ${countText(Math.round(meanTokens), 'token')} from disk, ${fastEnough}.`,
  ].join(' ');
}

function speedText(bytesPerSecond: number): string {
  return bytesPerSecond < GIGABYTE / 10
    ? `${formatNumber(bytesPerSecond / MEGABYTE, 1)} MB/s`
    : `${formatNumber(bytesPerSecond / GIGABYTE, 2)} GB/s`;
}

function traceText(trace: TraceSummary): string {
  const { turns, users, conversations, segments } = trace.counts;
  const [part, parts] = trace.idsOf === 'prefix' ? ['block', 'blocks'] : ['memory', 'memories'];
  return [
    `${countText(turns, 'turn')} of ${countText(users, 'user')} in ${countText(conversations, 'conversation')},`,
    `over ${formatNumber(trace.durationMs / MS_PER_HOUR, 1)} h; ${groupedNumber(Math.round(trace.meanPromptTokens))} tokens a prompt.`,
    `${countText(segments, part, parts)}, together ${formatNumber(trace.workingSetBytes / GIGABYTE, 2)} GB of KV;`,
    `${formatNumber(100 * trace.repeatedShare, 1)} % of those in a prompt had been in an earlier one of the user.`,
  ].join(' ');
}

/** The times to the first token of all turns, sorted, a curve for each arm. */
export function estimateFigure({ trace, model, arms }: TrafficEstimate, traits: ArmsWithTraits): Figure {
  const names = arms.map(({ arm }) => arm);
  const { color, shape, strokeDash } = curveEncoding(traits, names);
  const words = arms.map(({ arm, percentilesMs }) => `${arm} ${formatNumber(percentilesMs[50]!, 0)} ms`);
  const axis = { grid: true, tickCount: 5, format: ',.2~r' };
  return {
    id: 'estimate',
    title: `Estimated time to first token: ${trace.name} on ${model}`,
    key: `The turns of each arm, sorted by estimated time: ${trace.name} on ${model}.`,
    description: `Estimated times to the first token, by share of the turns. Medians: ${words.join('; ')}.`,
    data: arms.flatMap(({ arm, percentilesMs }) => percentilesMs.map((ms, percent) => ({ arm, percent, ms }))),
    spec: {
      width: PANEL_WIDTH,
      height: 200,
      encoding: {
        x: fieldQuantity('percent', 'Share of the turns, %', { domain: [0, 100] }, { tickCount: 5 }),
        y: fieldQuantity('ms', 'Time to first token, ms', { type: 'log', nice: true }, axis),
      },
      layer: [
        { transform: asLines, mark: 'line', encoding: { color, strokeDash } },
        layer('datum.percent % 10 === 5', { type: 'point', filled: true, size: 36 }, { color, shape }),
      ],
    },
  };
}
