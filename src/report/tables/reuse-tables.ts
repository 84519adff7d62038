/** Tables 16 and 16b: what caches found under traffic, played and simulated; simulated times by length and reuse. */
import { countColumn, itemRows, numberColumn, type Table, textColumn, titled } from '../../render/table.ts';
import { present } from '../../base/present.ts';
import { groupedNumber } from '../../render/format-number.ts';
import type { ReuseMeasurement } from '../../store/records/suite-measurements.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { ENOUGH_KEPT, fastestArms, type KeptQuality, keptQualityText, mapRooms, mapTraffic, type MapTraffic } from '../fastest-arms.ts'; // prettier-ignore
import { runTable } from './table-parts.ts';
import { titleWithProof } from '../validity-caveats.ts';

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
