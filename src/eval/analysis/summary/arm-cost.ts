import { onceFor } from '../../../base/once-for.ts';
import type { ArmResults, Cost, RetrievalKind } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { usersOf } from '../statistics/item-numbers.ts';
import { groupedBy } from '../statistics/sublist.ts';
import type { Regime } from './regime.ts';
import { latencyOf, phaseMeans, tokenMeans } from './turn-means.ts';

/** The cost of a turn, over some turns of one arm; null without any. */
export function costOf(turns: readonly AnsweredResult[]): Cost | null {
  const ttftMs = latencyOf(turns, 'firstToken');
  const totalMs = latencyOf(turns, 'total');
  if (ttftMs === null || totalMs === null) return null;
  return { turns: turns.length, tokens: tokenMeans(turns), phasesMs: phaseMeans(turns), ttftMs, totalMs };
}

const kindOf = onceFor((kinds: ReadonlyMap<string, RetrievalKind>) => ({
  of: ({ userId }: AnsweredResult): RetrievalKind | undefined => kinds.get(userId),
}));

/** Turns by what retrieval did for their users, and which of these are cache hits of the primary arm. */
export function costByRetrieval(
  turns: readonly AnsweredResult[],
  regime: Regime,
  kinds: ReadonlyMap<string, RetrievalKind>,
): Pick<ArmResults, 'byRetrieval'> {
  const parts = groupedBy(turns, kindOf(kinds));
  if (![...parts.keys()].some((kind) => kind !== undefined)) return {};
  return {
    byRetrieval: (['everything', 'selection'] as const).flatMap((kind) => {
      const some = parts.get(kind) ?? [];
      const hits = regime.hits(some);
      const counts = { users: usersOf(some), usersWithHits: usersOf(hits), turns: some.length, hits: hits.length };
      return some.length === 0 ? [] : [{ kind, ...counts, costHit: costOf(hits), costAll: costOf(some) }];
    }),
  };
}
