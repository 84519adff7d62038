/** Caches under traffic, played and simulated (table 16), and the map of the fastest arms by length and reuse (table 16b, figure 16). */
import { present } from '../../base/present.ts';
import { type Figure, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber, groupedNumber } from '../../render/format-number.ts';
import { countColumn, itemRows, numberColumn, type Table, textColumn, titled } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { ReuseMeasurement } from '../../store/records/suite-measurements.ts';
import { categories, distinct, facets } from '../figures/figure-parts.ts';
import { baselineArm } from '../find-arms-and-comparisons.ts';
import { primaryMetric } from '../metric-display.ts';
import { runTable } from '../tables/table-parts.ts';
import { titleWithProof } from '../validity-caveats.ts';
import { keptShare } from './methods.ts';

type PlayedArm = ReuseMeasurement['arms'][number];

export function reuseTable(results: RunResults, { traffic, maxBytes, arms }: ReuseMeasurement): Table {
  const counts = COUNTS.map(([part, heading]) =>
    countColumn(part, heading, ({ real, simulated }: PlayedArm) =>
      real[part] === simulated[part] ? real[part] : null,
    ),
  );
  const { turns, users, memories, retrieved, repeated } = traffic;
  return runTable(results, arms, ({ arm }) => arm, {
    id: 'table-16',
    title: `Table 16. Caches under traffic, as metered and as simulated: ${results.run.model.name}`,
    columns: [
      ...counts,
      countColumn('differing', 'turns simulated otherwise', ({ differing }) => differing),
      numberColumn('ms', 'ms per turn', ({ real }) => real.ms / turns, 1),
      numberColumn('ratio', 'simulated ÷ real time', ({ real, simulated }) => simulated.ms / real.ms, 2),
    ],
    notes: [
      `${groupedNumber(turns)} turns of ${users} users with ${memories} memories each, of which each turn retrieves ${retrieved}; ` +
        `${Math.round(repeated * 100)} % of them the user had been given before. An arm keeps at most ${groupedNumber(maxBytes)} bytes in memory,`,
      'and as many on disk. A count is shown where the simulator arrives at the same number as the meter and the stores, else a dash.',
      'Times: up to the first token, without retrieval and tokenising; simulated from the costs that suite length measured in this run.',
    ],
  });
}

const COUNTS = [
  ['evaluatedTokens', 'tokens evaluated'],
  ['hits', 'hits'],
  ['entries', 'entries kept'],
  ['evicted', 'evicted'],
  ['storedBytes', 'bytes kept'],
] as const;

/** Table 16b: the map of a run. */
export function reuseMapTable(results: RunResults, { map, costsUpTo }: ReuseMeasurement): Table | undefined {
  if (map.length === 0) return undefined;
  const costs = `Costs were measured up to ${groupedNumber(costsUpTo)} tokens in this run; beyond, they are extrapolated.`;
  const caption = `Table 16b. ${MAP_TITLE}: ${results.run.model.name}`;
  return { id: 'table-16b', caption: titleWithProof(caption, results), ...mapParts(map, costs) };
}

/** The map of a machine with assumed costs, as `dki-bench estimate` shows it. */
export function estimatedMapTable(
  map: ReuseMeasurement['map'],
  model: string,
  assumed: readonly string[],
  kept?: readonly KeptQuality[],
): Table {
  return { id: 'map', caption: `${MAP_TITLE}: ${model}`, ...mapParts(map, `Assumed: ${assumed.join('; ')}.`, kept) };
}

const MAP_TITLE = 'Simulated time to first token by length and reuse of the memories, × text';

function mapParts(
  map: ReuseMeasurement['map'],
  costs: string,
  kept?: readonly KeptQuality[],
): Omit<Table, 'id' | 'caption'> {
  const arms = [...new Set(map.map(({ arm }) => arm))].filter((arm) => arm !== 'rag');
  const name = ({ memoryTokens, repeated }: MapTraffic): string =>
    `${groupedNumber(memoryTokens)} tokens, ${Math.round(repeated * 100)} % repeated`;
  const blocks = Object.entries(mapRooms).map(([room, title]) =>
    titled(title, [
      ...arms.map((arm) =>
        numberColumn<MapTraffic>(`${room}:${arm}`, arm, ({ cells }) => timesOfText(cells, room, arm), 2),
      ),
      textColumn<MapTraffic>(`${room}:exact`, 'fastest exact', ({ cells }) => fastestArms(cells, room).exact.arm),
      textColumn<MapTraffic>(`${room}:any`, 'fastest', ({ cells }) => fastestArms(cells, room, kept).any.arm),
    ]),
  );
  return {
    rowHeading: 'traffic',
    ...itemRows(mapTraffic(map), name, blocks),
    notes: present([
      'Means of 2,000 turns of 20 users; five memories are retrieved, popular ones more often (Zipf, exponent 1), in order of creation.',
      'Fastest: an arm must save 5 % of text’s time more than those in columns before it. Exact: rag, rag-cached, rag-cached + disk and dki, which have the bits of text. Blocks lose answers, and @order=stable shows text in another order.',
      kept !== undefined &&
        `An arm that is not exact is the fastest only where a run measured that it keeps ${ENOUGH_KEPT} % of text’s quality. Kept, in %, by ${keptQualityText(kept, arms)}.`,
      costs,
    ]),
  };
}

/** Null for an arm that was not simulated with this capacity. */
function timesOfText(cells: MapTraffic['cells'], room: string, arm: string): number | null {
  const [own, text] = [arm, 'rag'].map((name) => cells.find((cell) => cell.room === room && cell.arm === name)?.ms);
  return own === undefined ? null : own / text!;
}

/** Light enough for dark figures on them, and apart in grey. */
const colours = {
  rag: '#e6e7e8',
  'rag-cached': '#f2d34b',
  'rag-cached@order=stable': '#c8901c',
  'rag-cached + disk': '#66894a',
  dki: '#6aa3dd',
  'dki@order=stable': '#5590cc',
  'dki-blocks': '#f5b08f',
  'dki-blocks@context=previous': '#cf7d57',
};

/** `256`, `16k` */
const THOUSANDS = "datum.value < 1024 ? datum.label : round(datum.value / 1024) + 'k'";

/** Figure 16: the map of a run. */
export function reuseFigure({ run, measured }: RunResults): Figure | undefined {
  const map = measured?.reuse?.map ?? [];
  return map.length === 0 ? undefined : reuseMapFigure(map, run.model.name);
}

/**
 * The fastest arm by length and reuse, among the exact ones and among all, and its time × that of text.
 * @param model named in the key
 * @param kept if given, arms that are not exact are shown only where they keep the quality of text
 */
export function reuseMapFigure(map: ReuseMeasurement['map'], model: string, kept?: readonly KeptQuality[]): Figure {
  const all = kept === undefined ? 'all arms' : `arms that keep ${ENOUGH_KEPT} %`;
  const data = mapTraffic(map).flatMap(({ memoryTokens, memories, repeated, cells }) =>
    Object.entries(mapRooms).flatMap(([room, where]) => {
      const fastest = fastestArms(cells, room, kept);
      const text = cells.find((cell) => cell.room === room && cell.arm === 'rag')!.ms;
      return [['exact arms', fastest.exact] as const, [all, fastest.any] as const].map(([which, { arm, ms }]) => ({
        panel: `${where}: ${which}`,
        tokens: memoryTokens,
        memories: `${groupedNumber(memories)} (${Math.round(repeated * 100)} %)`,
        arm,
        share: ms / text,
      }));
    }),
  );
  const panels = Object.values(mapRooms).flatMap((where) => [`${where}: exact arms`, `${where}: ${all}`]);
  const longest = Math.max(...data.map(({ tokens }) => tokens));
  const words = data
    .filter(({ tokens }) => tokens === longest)
    .map(({ panel, memories, arm, share }) => `${panel}, ${memories}: ${arm} ${formatNumber(share, 2)}`);
  const used = Object.fromEntries(Object.entries(colours).filter(([arm]) => data.some((row) => row.arm === arm)));
  const others =
    kept === undefined
      ? 'all others may lose answers.'
      : `others are shown where they keep ${ENOUGH_KEPT} % of its quality. Kept, in %, by ${keptQualityText(kept, Object.keys(colours))}.`;
  const axis = { grid: false, domain: false, ticks: false, labelAngle: 0 };
  return {
    id: 'reuse',
    title: 'Figure 16. The fastest arm by length and reuse of the memories, simulated',
    key: `Simulated: ${model}. Five memories are retrieved from so many of a user; in brackets, how many of them had been before. Numbers: mean time to first token, × that of text. Exact arms have the bits of text; ${others}`,
    keyWidth: 90,
    description: `At ${groupedNumber(longest)} tokens of memories, by memories of a user, and the share of those retrieved that had been before. ${words.join('; ')}.`,
    data,
    spec: facets('panel', panels, 2, {
      width: HALF_PANEL_WIDTH,
      height: HALF_PANEL_WIDTH,
      encoding: {
        x: {
          field: 'tokens',
          type: 'ordinal',
          axis: { ...axis, title: 'Tokens of memories in a prompt', labelExpr: THOUSANDS, labelOverlap: false },
        },
        y: {
          field: 'memories',
          type: 'ordinal',
          sort: distinct(data.map(({ memories }) => memories)),
          axis: { ...axis, title: 'Memories of a user' },
        },
      },
      layer: [
        { mark: 'rect', encoding: { color: categories('arm', used, { symbolType: 'square' }) } },
        {
          mark: { type: 'text', color: '#1c1e21', fontSize: 9 },
          encoding: {
            text: {
              condition: { test: 'datum.share < 0.005', value: '<.01' },
              ...{ field: 'share', type: 'quantitative', format: '.2f' },
            },
          },
        },
      ],
    }),
  };
}

type MapCell = ReuseMeasurement['map'][number];

/** How much of the KV fits where, in words. */
const mapRooms: Readonly<Record<MapCell['room'], string>> = {
  memory: 'All blocks fit into memory',
  disk: 'A tenth fits, a disk holds the rest',
};

type MapTraffic = ReturnType<typeof mapTraffic>[number];

/** Simulated traffic by length and degree of reuse: the cells of all arms and capacities. */
function mapTraffic(map: ReuseMeasurement['map']) {
  const groups = Map.groupBy(map, ({ memoryTokens, memories }) => `${memoryTokens} ${memories}`);
  return [...groups.values()].map((cells) => {
    const { memoryTokens, memories, repeated } = cells[0]!;
    return { memoryTokens, memories, repeated, cells };
  });
}

/** An arm is faster than those before it if it saves this share of text's time more; less lies within the error of the costs. */
const LEAST_GAIN = 0.05;

/** The fastest exact arm, and the fastest of all. @param kept if given, others count only where they keep the quality of text */
export function fastestArms(
  cells: readonly MapCell[],
  room: string,
  kept?: readonly KeptQuality[],
): Readonly<Record<'exact' | 'any', MapCell>> {
  const here = cells.filter((cell) => cell.room === room);
  const textMs = here.find(({ arm }) => arm === 'rag')!.ms;
  const fastest = (among: readonly MapCell[]): MapCell =>
    among.reduce((best, cell) => (cell.ms < best.ms - LEAST_GAIN * textMs ? cell : best));
  const isExact = ({ arm }: MapCell): boolean => answersOf(arm) === 'rag';
  const exact = here.filter(isExact);
  const others = here.filter((cell) => {
    return !isExact(cell) && (kept === undefined || keepsQuality(kept, cell.arm, cell.memoryTokens));
  });
  return { exact: fastest(exact), any: fastest([...exact, ...others]) };
}

/** The primary metric of an arm in % of text's, in prompts of so many tokens on average. */
export interface KeptQuality {
  readonly run: string;
  readonly arm: string;
  readonly promptTokens: number;
  readonly percent: number;
  /** Questions that the metric judges. */
  readonly n: number;
}

/** An arm is fast for nothing if it keeps less of text's quality, in %. */
const ENOUGH_KEPT = 95;
/** Quality holds at lengths up to this factor away. */
const NEAR = 2;

export function keptQuality(results: RunResults): KeptQuality[] {
  const promptTokens = baselineArm(results.arms)?.costAll?.tokens.prompt;
  if (promptTokens === undefined) return [];
  const { run, arms } = results;
  const byAnswers = Map.groupBy(arms, ({ arm }) => answersOf(arm));
  return [...byAnswers].flatMap(([arm, [measured]]) => {
    const percent = keptShare(results, measured!);
    if (percent === undefined) return [];
    const { n } = primaryMetric(run).of(measured!.metrics)!;
    return [{ run: run.name, arm, promptTokens, percent, n }];
  });
}

/** The text arm with the same answers: exact KV has those of text in the same order, bit for bit. */
const answersOf = (arm: string): string => arm.replace(/^(?:rag-cached(?: \+ disk)?|dki)(?=$|@order)/, 'rag');

/** Whether an arm was measured near a length, and kept enough in every run. */
export function keepsQuality(kept: readonly KeptQuality[], arm: string, tokens: number): boolean {
  const isNear = ({ promptTokens }: KeptQuality): boolean =>
    Math.max(tokens / promptTokens, promptTokens / tokens) <= NEAR;
  const near = kept.filter((one) => one.arm === answersOf(arm) && isNear(one));
  return near.length > 0 && near.every(({ percent }) => percent >= ENOUGH_KEPT);
}

/** `run NAME, 190 tokens, n = 612: dki-blocks 75.8`, for some arms. */
export function keptQualityText(kept: readonly KeptQuality[], arms: readonly string[]): string {
  const shown = new Set(arms.map(answersOf));
  const byRun = Map.groupBy(
    kept.filter(({ arm }) => shown.has(arm) && arm !== 'rag'),
    ({ run, promptTokens, n }) =>
      `run ${run}, ${groupedNumber(Math.round(promptTokens))} tokens, n = ${groupedNumber(n)}`,
  );
  return [...byRun]
    .map(([where, of]) => `${where}: ${of.map(({ arm, percent }) => `${arm} ${percent.toFixed(1)}`).join(', ')}`)
    .join('; ');
}
