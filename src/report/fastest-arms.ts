import type { ReuseMeasurement } from '../store/records/suite-measurements.ts';

type MapCell = ReuseMeasurement['map'][number];

/** Arms whose answers are those of text, bit for bit. */
const EXACT = ['rag', 'rag-cached', 'dki'];

/** Where KV may be, in words. */
export const mapRooms: Readonly<Record<MapCell['room'], string>> = {
  memory: 'All blocks fit into memory',
  disk: 'A tenth fits, a disk holds the rest',
};

/** Simulated traffic of one length and degree of reuse: the cells of all arms and rooms. */
export interface MapTraffic extends Pick<MapCell, 'memoryTokens' | 'repeated'> {
  readonly cells: readonly MapCell[];
}

export function mapTraffic(map: ReuseMeasurement['map']): MapTraffic[] {
  const groups = Map.groupBy(map, ({ memoryTokens, memories }) => `${memoryTokens} ${memories}`);
  return [...groups.values()].map((cells) => {
    const { memoryTokens, repeated } = cells[0]!;
    return { memoryTokens, repeated, cells };
  });
}

/** An arm is faster than those before it if it saves this share of their time; less lies within the error of the costs. */
const LEAST_GAIN = 0.05;

/** The fastest exact arm, and the fastest of all. */
export function fastestArms(cells: readonly MapCell[], room: string): Readonly<Record<'exact' | 'any', MapCell>> {
  const fastest = (among: readonly MapCell[]): MapCell =>
    among.reduce((best, cell) => (cell.ms < (1 - LEAST_GAIN) * best.ms ? cell : best));
  const here = cells.filter((cell) => cell.room === room);
  return { exact: fastest(here.filter(({ arm }) => EXACT.includes(arm))), any: fastest(here) };
}
