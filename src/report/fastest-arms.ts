import type { ReuseMeasurement } from '../store/records/suite-measurements.ts';
import { answersOf, keepsQuality, type KeptQuality } from './kept-quality.ts';

type MapCell = ReuseMeasurement['map'][number];

/** How much of the KV fits where, in words. */
export const mapRooms: Readonly<Record<MapCell['room'], string>> = {
  memory: 'All blocks fit into memory',
  disk: 'A tenth fits, a disk holds the rest',
};

/** Simulated traffic of one length and degree of reuse: the cells of all arms and capacities. */
export interface MapTraffic extends Pick<MapCell, 'memoryTokens' | 'memories' | 'repeated'> {
  readonly cells: readonly MapCell[];
}

export function mapTraffic(map: ReuseMeasurement['map']): MapTraffic[] {
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
