import { type Figure, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber, groupedNumber } from '../../render/format-number.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { ReuseMeasurement } from '../../store/records/suite-measurements.ts';
import { ENOUGH_KEPT, fastestArms, type KeptQuality, keptQualityText, mapRooms, mapTraffic } from '../fastest-arms.ts'; // prettier-ignore
import { categories, distinct, facets } from './figure-parts.ts';

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
