import type { ServedTurn } from './play-load.ts';

/** Turns that had arrived by each planned arrival, itself included, and were not answered by then. */
function backlogs(served: readonly ServedTurn[]): number[] {
  return served.map(
    ({ plannedMs }) =>
      served.filter((other) => other.plannedMs <= plannedMs && other.outcome.doneMs > plannedMs).length,
  );
}

/**
 * True where the queue still grows at the end of a load: the mean backlog rises from each third of the arrivals to the next, in all
 * by more turns than are served at once. Times of such a load depend on how long it is played.
 * @param served in the order of planned arrival
 */
export function isSaturated(served: readonly ServedTurn[], sessions: number): boolean {
  const counts = backlogs(served);
  const third = Math.floor(counts.length / 3);
  const mean = (from: number, to: number): number =>
    counts.slice(from, to).reduce((sum, count) => sum + count, 0) / (to - from);
  if (third === 0) return false;
  const [first, middle, last] = [mean(0, third), mean(third, 2 * third), mean(2 * third, counts.length)] as const;
  return first < middle && middle < last && last - first > sessions;
}
