import { type Figure, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber, groupedNumber } from '../../render/format-number.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { fastestArms, mapRooms, mapTraffic } from '../fastest-arms.ts';
import { categories, distinct, facets } from './figure-parts.ts';

/** Light enough for dark figures on them, and apart in grey. */
const colours = {
  rag: '#d9dadb',
  'rag-cached': '#f2d34b',
  'rag-cached@order=stable': '#d9a520',
  dki: '#9ccdf5',
  'dki@order=stable': '#6fb3ea',
  'dki-blocks': '#f0a07a',
  'dki-blocks@context=previous': '#cf7d57',
};

/** Figure 16: the fastest arm by length and reuse, among the exact ones and among all, and its time × that of text. */
export function reuseFigure(results: RunResults): Figure | undefined {
  const traffic = mapTraffic(results.measured?.reuse?.map ?? []);
  if (traffic.length === 0) return undefined;
  const data = traffic.flatMap(({ memoryTokens, repeated, cells }) =>
    Object.entries(mapRooms).flatMap(([room, where]) => {
      const fastest = fastestArms(cells, room);
      const text = cells.find((cell) => cell.room === room && cell.arm === 'rag')!.ms;
      return [['exact arms', fastest.exact] as const, ['all arms', fastest.any] as const].map(
        ([which, { arm, ms }]) => ({
          panel: `${where}: ${which}`,
          tokens: memoryTokens,
          repeated: `${Math.round(repeated * 100)} %`,
          arm,
          share: ms / text,
        }),
      );
    }),
  );
  const panels = Object.values(mapRooms).flatMap((where) => [`${where}: exact arms`, `${where}: all arms`]);
  const longest = Math.max(...data.map(({ tokens }) => tokens));
  const words = data
    .filter(({ tokens }) => tokens === longest)
    .map(({ panel, repeated, arm, share }) => `${panel}, ${repeated}: ${arm} ${formatNumber(share, 2)}`);
  const used = Object.fromEntries(Object.entries(colours).filter(([arm]) => data.some((row) => row.arm === arm)));
  const axis = { grid: false, domain: false, ticks: false, labelAngle: 0 };
  return {
    id: 'reuse',
    title: 'Figure 16. The fastest arm by length and reuse of the memories, simulated',
    key: 'Numbers: mean time to first token, × that of text. Exact arms have the bits of text; all others may lose answers.',
    description: `At ${groupedNumber(longest)} tokens of memories, by share of memories retrieved before. ${words.join('; ')}.`,
    data,
    spec: facets('panel', panels, 2, {
      width: HALF_PANEL_WIDTH,
      height: HALF_PANEL_WIDTH,
      encoding: {
        x: { field: 'tokens', type: 'ordinal', axis: { ...axis, title: 'Tokens of memories', format: ',d' } },
        y: {
          field: 'repeated',
          type: 'ordinal',
          sort: distinct(data.map(({ repeated }) => repeated)),
          axis: { ...axis, title: 'Memories retrieved before' },
        },
      },
      layer: [
        { mark: 'rect', encoding: { color: categories('arm', used, { symbolType: 'square' }) } },
        {
          mark: { type: 'text', color: '#1c1e21', fontSize: 9 },
          encoding: { text: { field: 'share', type: 'quantitative', format: '.2f' } },
        },
      ],
    }),
  };
}
