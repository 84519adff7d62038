import { editDistance } from './edit-distance.ts';

/** Finds the most similar known name; undefined if more than half of the longer name differs. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const most = Math.ceil(Math.max(name.length, candidate.length) / 2);
    // No distance is less than the difference in length: a text of a megabyte is near no name.
    if (Math.abs(name.length - candidate.length) > most) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < fewest && distance <= most) {
      nearest = candidate;
      fewest = distance;
    }
  }
  return nearest;
}

/** Formats `: did you mean NAME?`; empty if no known name is similar. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `: did you mean ${nearest}?`;
}
