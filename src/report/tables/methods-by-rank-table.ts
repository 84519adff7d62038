import type { EvidenceRank, RunResults } from '../../store/records/results.ts';
import { evidenceRanks } from '../../store/records/results/method-results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { type Block, captionOf, type Cell, type Table } from '../../render/table.ts';

/** Ranks as figures and tables call them. */
export const rankTitles: Readonly<Record<EvidenceRank, string>> = {
  first: 'Evidence retrieved first',
  second: 'Evidence retrieved second',
  later: 'Evidence retrieved later',
};

/** Table 11b: methods by the retriever's rank of the evidence; undefined for a run of another suite, and without ranks. */
export function methodsByRankTable(results: RunResults): Table | undefined {
  const { run, methods = [] } = results;
  const primary = primaryMetric(run);
  const partsOf = (rank: EvidenceRank) => methods.flatMap(({ byRank }) => byRank.filter((part) => part.rank === rank));
  const ranks = evidenceRanks.filter((rank) => partsOf(rank).length > 0);
  if (ranks.length === 0) return undefined;
  const items = (rank: EvidenceRank): number => Math.max(...partsOf(rank).map(({ quality }) => quality.n));
  const right = { align: 'right', interval: true } as const;
  return {
    id: 'table-11b',
    caption: captionOf(
      `Table 11b. Methods by the rank of the evidence among the retrieved: ${run.dataset.name}`,
      results,
    ),
    rowHeading: 'arm',
    blocks: ranks.map((rank): Block => ({
      title: `${rankTitles[rank]}, ${items(rank)} items`,
      columns: [
        primary.column(`${rank}:quality`),
        { ...right, key: `${rank}:difference`, heading: 'less that of rag', unit: primary.differenceUnit },
      ],
    })),
    rows: methods.map(({ arm, byRank }) => ({
      label: arm,
      cells: Object.fromEntries(
        byRank.flatMap(({ rank, quality, difference }): (readonly [string, Cell])[] => [
          [`${rank}:quality`, primary.difference(quality)],
          [
            `${rank}:difference`,
            primary.difference(difference && { mean: difference.delta, low: difference.low, high: difference.high }),
          ],
        ]),
      ),
    })),
    notes: [
      'Of evidence in several memories the rank is that of the one that was retrieved last. Items whose evidence was not retrieved, or has none,',
      'are left out. Nothing is tested by rank: many differences are looked at, and no verdict is given.',
    ],
  };
}
