import { editDistance } from './edit-distance.ts';

/** The name that was probably meant, or undefined where none is near: at most half of the longer one differs. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < fewest && distance <= Math.ceil(Math.max(name.length, candidate.length) / 2)) {
      nearest = candidate;
      fewest = distance;
    }
  }
  return nearest;
}

/** `: did you mean NAME?`, or nothing where no name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `: did you mean ${nearest}?`;
}
