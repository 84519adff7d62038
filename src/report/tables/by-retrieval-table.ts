import type { ArmResults, RetrievalKind, RunResults } from '../../store/records/results.ts';
import { loadNotes } from '../load-notes.ts';
import { type Block, captionOf, type Cell, countCell, estimateCell, meanCell, type Table } from '../../render/table.ts';
import { primaryOf } from '../verdict.ts';

const TITLES: Readonly<Record<RetrievalKind, string>> = {
  everything: 'Users all of whose memories are retrieved',
  selection: 'Users of whose memories retrieval selects',
};

function blockOf(kind: RetrievalKind): Block {
  const column = (key: string, heading: string) => ({ key: `${kind}:${key}`, heading, align: 'right' as const });
  return {
    title: TITLES[kind],
    columns: [
      column('turns', 'turns'),
      column('hits', 'hits'),
      { ...column('hitRate', 'hit rate'), unit: '%' },
      column('evaluatedHit', 'evaluated (hit)'),
      column('evaluatedAll', 'evaluated (all)'),
      { ...column('ttftHit', 'first token (hit)'), unit: 'ms', interval: true },
      { ...column('ttftAll', 'first token (all)'), unit: 'ms', interval: true },
    ],
  };
}

function cellsOf({ byRetrieval = [] }: ArmResults): Record<string, Cell> {
  return Object.fromEntries(
    byRetrieval.flatMap(({ kind, turns, hits, costHit, costAll }) =>
      Object.entries({
        turns: countCell(turns),
        hits: countCell(hits),
        hitRate: meanCell((100 * hits) / turns),
        evaluatedHit: meanCell(costHit?.tokens.evaluated),
        evaluatedAll: meanCell(costAll?.tokens.evaluated),
        ttftHit: estimateCell(costHit?.ttftMs),
        ttftAll: estimateCell(costAll?.ttftMs),
      }).map(([key, cell]) => [`${kind}:${key}`, cell] as const),
    ),
  );
}

/** Table 1d: costs by what retrieval does for a user; undefined without a primary arm, whose cache hits they are by. */
export function byRetrievalTable(results: RunResults): Table | undefined {
  const parts = primaryOf(results.arms)?.byRetrieval ?? [];
  if (parts.length === 0) return undefined;
  return {
    id: 'table-1d',
    caption: captionOf('Table 1d. Cache hits by what retrieval does', results),
    rowHeading: 'arm',
    blocks: parts.map(({ kind }) => blockOf(kind)),
    rows: results.arms.map((arm) => ({ label: arm.arm, cells: cellsOf(arm) })),
    notes: [
      ...parts.map(
        ({ kind, users, usersWithHits, hits }) =>
          `${TITLES[kind]}: ${users}, ${usersWithHits} of them with cache hits, ${hits} in all.`,
      ),
      ...loadNotes(results.run),
    ],
  };
}
