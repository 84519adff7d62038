import type { Trace, TraceTurn } from '../../kv/traffic/trace.ts';

/** A trace of turns in any order: sorted by time, the first at 0. Turns of one time keep their order. */
export function sortedTrace(about: Omit<Trace, 'turns'>, turns: readonly TraceTurn[]): Trace {
  const sorted = turns.toSorted((a, b) => a.atMs - b.atMs);
  const start = sorted[0]?.atMs ?? 0;
  return { ...about, turns: sorted.map((turn) => ({ ...turn, atMs: turn.atMs - start })) };
}
