/** Time to first token: table 5, and figures F1 (quality against time), 5 (cumulative over turns) and F2 (by phase). */
import { type Figure, type FigureRow, HALF_PANEL_WIDTH, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import {
  intervalColumn,
  type ItemBlock,
  numberColumn,
  partColumns,
  type Table,
  textCell,
  titled,
} from '../../render/table.ts';
import type {
  ArmResults,
  BreakEven,
  ConditionResults,
  PhaseMeans,
  RunResults,
} from '../../store/records/run-results.ts';
import { armEncoding, isContender } from '../figures/arm-encoding.ts';
import {
  categories,
  distinct,
  type EstimateFields,
  estimateFields,
  estimateText,
  facets,
  intervalLayer,
  layer,
  logarithmicTicks,
  MEANS,
  measuredScale,
  quantity,
} from '../figures/figure-parts.ts';
import { baselineArm, joinedArm, primaryArm } from '../find-arms-and-comparisons.ts';
import { type MetricDisplay, plansContrast, primaryMetric } from '../metric-display.ts';
import { armTable } from '../tables/table-parts.ts';
import { breakEvenText, headline, sentencesTitle } from '../verdict-sentences.ts';
import { NAMED_ARMS } from '../verdict-wording.ts';
import { conditionsFinding } from './conditions.ts';

const tablePhases = [
  ['retrieve', 'retrieve'],
  ['assemble', 'assemble'],
  ['kvLoad', 'load KV'],
  ['kvCompute', 'build KV'],
  ['prefill', 'evaluate'],
] as const;

function phaseBlock(title: string, kind: 'Hit' | 'Miss'): ItemBlock<ArmResults> {
  return titled(title, [
    intervalColumn(`ttft${kind}`, 'TTFT (ms)', (arm) => arm[`cost${kind}`]?.ttftMs),
    ...tablePhases.map(([phase, heading]) =>
      numberColumn<ArmResults>(`${phase}${kind}`, `${heading} (ms)`, (arm) => arm[`cost${kind}`]?.phasesMs[phase]),
    ),
  ]);
}

/** @param against the text arm */
function breakEvenBlock(against: string, breakEven: readonly BreakEven[]): ItemBlock<ArmResults> {
  const turn = (value: number | null) => (value === null ? 'never' : formatNumber(value, 0));
  const ofArm = ({ arm }: ArmResults) => breakEven.find((one) => one.arm === arm && one.against === against);
  const columns = partColumns(ofArm, [
    numberColumn(`turn:${against}`, 'at turn', (one) => textCell(turn(one.turn))),
    numberColumn(`interval:${against}`, '95 % interval', ({ low, high }) => textCell(`${turn(low)} to ${turn(high)}`)),
    numberColumn(`missMs:${against}`, 'own miss (ms)', ({ missMs }) => missMs),
    numberColumn(`hitMs:${against}`, 'own hit (ms)', ({ hitMs }) => hitMs),
    numberColumn(`textMissMs:${against}`, `${against}, same misses (ms)`, ({ textMissMs }) => textMissMs),
    numberColumn(`textHitMs:${against}`, `${against}, same hits (ms)`, ({ textHitMs }) => textHitMs),
  ]);
  return titled(`Break-even against ${against}`, columns);
}

export function latencyTable(results: RunResults): Table {
  const armsAhead = results.arms.flatMap((one) => (one.ahead === undefined ? [] : one.arm));
  // Only a primary arm defines cache hits and misses.
  const hasHits = primaryArm(results.arms) !== undefined;
  const opponents = [...new Set(results.breakEven.map(({ against }) => against))];
  return armTable(results, {
    id: 'table-5',
    title: 'Table 5. Time to first token (TTFT), and break-even',
    blocks: [
      ...(hasHits
        ? [phaseBlock('Cache hits', 'Hit'), phaseBlock('Cache misses', 'Miss')]
        : [phaseBlock('All turns', 'Hit')]),
      ...opponents.map((against) => breakEvenBlock(against, results.breakEven)),
      armsAhead.length > 0 &&
        titled('Built before the turns, per turn', [
          numberColumn('aheadTokens', 'tokens', (arm) => arm.ahead?.tokens),
          numberColumn('aheadMs', 'build KV (ms)', (arm) => arm.ahead?.ms),
        ]),
    ],
    notes: [
      hasHits
        ? 'Hits and misses are those of dki, the same turns for every arm.'
        : 'Times are over all turns: without dki in the run there are no cache hits or misses.',
      'Break-even: the first turn, with unchanged memories, after which an arm has taken no more time in total than text. It is',
      'computed from means over the same turns: one miss, then hits. It may never come.',
      armsAhead.length > 0 &&
        `KV that ${armsAhead.join(', ')} built when memories were added counts only in the last columns.`,
    ],
  });
}

function frontierTitle(results: RunResults, { title }: MetricDisplay): string {
  if (plansContrast(results.run)) return `${title} over all categories together, and time; figure F0 has each category`;
  return sentencesTitle(headline(results)) || `${title} and time to the first token, by arm`;
}

/** Logarithmic scale and axis around the measured times. Intervals beyond it are cut: those of few turns span decades. */
function logarithmic(times: readonly EstimateFields[], population: string) {
  const values = times.map(({ value }) => value);
  const lows = times.map(({ value, low }) => Math.max(low ?? value, Math.min(...values) / 2));
  const highs = times.map(({ value, high }) => Math.min(high ?? value, Math.max(...values) * 2));
  const ticks = logarithmicTicks([...lows, ...highs]);
  const title = `Time to first token, ms, ${population} (logarithmic)`;
  const scale = { type: 'log', domain: [ticks[0], ticks.at(-1)], clamp: true };
  return quantity(title, scale, { grid: true, values: ticks });
}

/** Figure F1: the primary metric against time to first token, by arm; undefined if either is unknown. */
export function frontierFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const points = results.arms.flatMap(({ arm, metrics }) => {
    const [quality, time] = [primary.of(metrics), metrics.ttftMs];
    if (!isContender(results, arm) || quality === null || time === null) return [];
    return [{ arm, quality: estimateFields(quality, primary.scale), time: estimateFields(time) }];
  });
  const { name, unit, digits } = primary;
  const [low, high] = [`${name}Low`, `${name}High`];
  const data = points.map(({ arm, quality, time }) => ({
    arm,
    [name]: quality.value,
    [low]: quality.low,
    [high]: quality.high,
    ttftMs: time.value,
    ttftLow: time.low,
    ttftHigh: time.high,
  }));
  if (data.length < 2) return undefined;
  const arms = data.map(({ arm }) => arm);
  const { color, shape } = armEncoding(results, arms);
  const hits = primaryArm(results.arms);
  const population = hits === undefined ? 'all turns' : `cache hits of ${hits.arm}, n = ${hits.turns.hit}`;
  const times = points.map((point) => point.time);
  // On a linear axis all arms but the slowest would be crowded together.
  const x = logarithmic(times, population);
  const scale = measuredScale(points.map((point) => point.quality));
  const y = quantity(`${primary.title}, ${unit}`, scale, { tickCount: 5 });
  const time = { ...x, field: 'ttftMs' };
  const quality = { ...y, field: name };
  const words = points.map(
    ({ arm, quality, time }) => `${arm} ${estimateText(quality, unit, digits)} at ${estimateText(time, 'ms')}`,
  );
  return {
    id: 'frontier',
    title: `Figure F1. ${frontierTitle(results, primary)}`,
    key: MEANS,
    description: `${primary.title}, and time to the first token over ${hits === undefined ? 'all turns' : 'cache hits'}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: {
      width: PANEL_WIDTH,
      height: 230,
      encoding: { color },
      layer: [
        intervalLayer('y', y, { encoding: { x: time }, bounds: [low, high] }),
        intervalLayer('x', x, { encoding: { y: quality }, bounds: ['ttftLow', 'ttftHigh'] }),
        { mark: { type: 'point', size: 80 }, encoding: { x: time, y: quality, shape } },
        // Arms of one family share a colour, so each point is labelled with its argument: 4 for dki-link:4.
        ...[-11, 12].map((dy, side) => ({
          transform: [
            { calculate: "split(split(datum.arm, ':')[1] || '', '@')[0]", as: 'argument' },
            { filter: `indexof(${JSON.stringify(arms)}, datum.arm) % 2 == ${side}` },
          ],
          mark: { type: 'text', dy, fontSize: 10 },
          encoding: { x: time, y: quality, text: { field: 'argument' } },
        })),
      ],
    },
  };
}

const MIN_TURNS = 6;
const MAX_TURNS = 20;

/** `breaks even at turn 2 [2, 3] against rag`; `is not shown to …` if the interval reaches `never`. */
function crossingWords(crossing: BreakEven): string {
  const { against, turn, low, high } = crossing;
  const text = breakEvenText(crossing);
  if (turn !== null && high !== null) return `breaks even at ${text} against ${against}`;
  return turn === null && low === null
    ? `never breaks even against ${against}`
    : `is not shown to break even against ${against} (${text})`;
}

/** Cumulative times over turns, a miss and then hits, and the interval of the first break-even; `never` becomes the last turn. */
function breakEvenRows(ofArm: readonly [BreakEven, ...BreakEven[]], turns: number): FigureRow[] {
  const [{ arm, missMs, hitMs, turn, low, high }] = ofArm;
  const line = (name: string, firstMs: number, laterMs: number): FigureRow[] =>
    Array.from({ length: turns }, (_, later) => {
      const ms = firstMs + later * laterMs;
      return { panel: arm, arm: name, turn: later + 1, ms, from: null, to: null, crossing: null };
    });
  const from = low === null || low > turns ? null : low;
  const to = from === null ? null : Math.min(high ?? turns, turns);
  const crossing = ofArm.map((one) => `${one.against}: ${breakEvenText(one)}`).join('; ');
  return [
    ...ofArm.flatMap(({ against, textMissMs, textHitMs }) => line(against, textMissMs, textHitMs)),
    ...line(arm, missMs, hitMs),
    { panel: arm, arm, turn, ms: null, from, to, crossing },
  ];
}

/** Figure 5: cumulative time of text and of arms that store KV, over turns with unchanged memories; undefined without such arms. */
export function breakEvenFigure(results: RunResults): Figure | undefined {
  const { breakEven } = results;
  if (breakEven.length === 0) return undefined;
  // Enough turns to show where the lines cross.
  const crossings = breakEven.flatMap(({ turn, high }) => [turn ?? 0, high ?? 0]);
  const turns = Math.min(MAX_TURNS, Math.max(MIN_TURNS, Math.max(...crossings) + 2));
  const byArm = [...Map.groupBy(breakEven, ({ arm }) => arm).values()] as [BreakEven, ...BreakEven[]][];
  const panels = byArm.map(([{ arm }]) => arm);
  const looks = armEncoding(results, distinct([...breakEven.map(({ against }) => against), ...panels]));
  const legend = { ...looks.color.legend, symbolType: 'stroke', symbolStrokeWidth: 2, symbolSize: 500 };
  const color = { ...looks.color, legend };
  const strokeDash = { ...looks.strokeDash, legend };
  const x = quantity('Turn', { domain: [1, turns], nice: false }, { format: 'd', tickMinStep: 1, tickCount: 5 });
  const y = { field: 'ms', ...quantity('Cumulative time, ms', {}, { tickCount: 4 }) };
  const isCrossing = `isValid(datum.crossing) && isValid(datum.turn) && datum.turn <= ${turns}`;
  const named = byArm.slice(0, NAMED_ARMS);
  const findings = named.map((ofArm) => `${ofArm[0].arm} ${ofArm.map(crossingWords).join(' and ')}`);
  const words = breakEven.map(
    (one) =>
      `${one.arm} against ${one.against}: ${breakEvenText(one)}, a first turn takes ${formatNumber(one.missMs, 1)} ms against ` +
      `${formatNumber(one.textMissMs, 1)} ms, a later one ${formatNumber(one.hitMs, 1)} ms against ${formatNumber(one.textHitMs, 1)} ms`,
  );
  return {
    id: 'break-even',
    title: `Figure 5. Cumulative time to first token: ${findings.join('; ')}`,
    key: 'Lines are sums of means. Dashed line: break-even turn against the first text arm; shaded: its 95 % interval.',
    description: `Break-even turn with its 95 % interval, shaded for the first text arm. ${words.join('; ')}.`,
    data: byArm.flatMap((ofArm) => breakEvenRows(ofArm, turns)),
    spec: facets('panel', panels, 2, {
      width: HALF_PANEL_WIDTH,
      height: 120,
      layer: [
        intervalLayer('x', x, { encoding: { color }, mark: { type: 'rect', opacity: 0.16 }, bounds: ['from', 'to'] }),
        layer(isCrossing, { type: 'rule', strokeDash: [3, 3] }, { x: { ...x, field: 'turn' }, color }),
        layer('isValid(datum.ms)', 'line', { x: { ...x, field: 'turn' }, y, color, strokeDash }),
      ],
    }),
  };
}

/** Phases of the time to first token, bottom to top. Light and dark colours alternate, for print. */
const phases: readonly { name: string; colour: string; ms: (means: PhaseMeans) => number }[] = [
  { name: 'retrieval, assembly', colour: '#8a8a8a', ms: ({ retrieve, assemble }) => retrieve + assemble },
  { name: 'gate', colour: '#b8860b', ms: ({ gate }) => gate },
  { name: 'load KV', colour: '#56a0d3', ms: ({ kvLoad }) => kvLoad },
  { name: 'build KV', colour: '#c2571a', ms: ({ kvCompute }) => kvCompute },
  { name: 'evaluate', colour: '#3d5a9e', ms: ({ prefill }) => prefill },
  {
    name: 'rest',
    colour: '#b9b9b9',
    ms: ({ retrieve, assemble, gate, kvLoad, kvCompute, prefill, firstToken }) =>
      Math.max(0, firstToken - retrieve - assemble - gate - kvLoad - kvCompute - prefill),
  },
];

const timeToFirstToken = { name: 'ttftMs', scale: 1, label: 'time to the first token', unit: 'ms' } as const;

const findCondition = (conditions: readonly ConditionResults[], arm: string, condition: number) =>
  conditions.find((one) => one.arm === arm && one.condition === condition);

/** Memory tokens under a condition, read from the first arm, since all arms have the same memories. */
function tokensLabel(conditions: readonly ConditionResults[], condition: number): string {
  return formatNumber(conditions.find((one) => one.condition === condition)!.memories.tokens, 0);
}

/** Figure F2: time to first token by memory tokens, stacked by phase; undefined without conditions. */
export function phasesFigure(results: RunResults): Figure | undefined {
  const conditions = results.conditions.filter(
    (one) => one.place === null && one.n > 0 && isContender(results, one.arm),
  );
  const arms = distinct(conditions.map(({ arm }) => arm));
  const used = phases.filter(({ ms }) => conditions.some(({ phasesMs }) => ms(phasesMs) > 0));
  const data = conditions.flatMap(({ arm, condition, phasesMs, metrics }) => {
    const { low, high } = metrics.ttftMs === null ? { low: null, high: null } : estimateFields(metrics.ttftMs);
    return used.map(({ name, ms }, order) => ({
      arm,
      memories: condition,
      memoryTokens: tokensLabel(conditions, condition),
      phase: name,
      order,
      ms: ms(phasesMs),
      ttftMs: phasesMs.firstToken,
      ttftLow: low,
      ttftHigh: high,
    }));
  });
  if (data.length === 0) return undefined;
  const steps = distinct(conditions.map(({ condition }) => condition)).sort((a, b) => a - b);
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const range = (from: number, to: number) =>
    `from ${tokensLabel(conditions, from)} to ${tokensLabel(conditions, to)} memory tokens`;
  const time = (arm: string, condition: number) =>
    formatNumber(findCondition(conditions, arm, condition)?.phasesMs.firstToken ?? NaN, 1);
  const colours = Object.fromEntries(used.map(({ name, colour }) => [name, colour]));
  const usual = [baselineArm, primaryArm, joinedArm].map((find) => find(results.arms));
  const finding = conditionsFinding(conditions, timeToFirstToken, range, usual);
  const words = arms.map((arm) => `${arm} from ${time(arm, first)} to ${time(arm, last)} ms`);
  return {
    id: 'phases',
    title: `Figure F2. ${finding}`,
    key: 'Bars are means over all turns, the line the 95 % interval of the whole.',
    description: `Means over all turns, cache hits and misses, ${range(first, last)}: ${words.join('; ')}. The line is the 95 % interval of the whole.`,
    data,
    spec: facets('arm', arms, 2, {
      width: HALF_PANEL_WIDTH,
      height: 110,
      encoding: {
        x: {
          field: 'memoryTokens',
          type: 'ordinal',
          sort: steps.map((step) => tokensLabel(conditions, step)),
          axis: { title: 'Memory tokens', labelAngle: 0, labelSeparation: 1 },
        },
      },
      layer: [
        {
          mark: { type: 'bar', stroke: 'currentColor', strokeWidth: 0.3 },
          encoding: {
            y: { field: 'ms', ...quantity('Time, ms', {}, { tickCount: 4 }) },
            color: categories('phase', colours, { symbolType: 'square', columns: 3 }),
            order: { field: 'order' },
          },
        },
        layer(
          'isValid(datum.ttftLow) && datum.order == 0',
          { type: 'rule', color: 'currentColor' },
          { y: { field: 'ttftLow', type: 'quantitative' }, y2: { field: 'ttftHigh' } },
        ),
      ],
    }),
  };
}
