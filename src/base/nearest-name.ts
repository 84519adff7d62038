import { BenchError } from './bench-error.ts';
import { editDistance } from './edit-distance.ts';

/** Finds the most similar known name; undefined if more than half of the longer name differs. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const most = Math.ceil(Math.max(name.length, candidate.length) / 2);
    // The distance is at least the difference in length; this skips huge texts without computing it.
    if (Math.abs(name.length - candidate.length) > most) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < fewest && distance <= most) {
      nearest = candidate;
      fewest = distance;
    }
  }
  return nearest;
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Z}]/gu;

/** Formats `: did you mean NAME?`, or names the invisible characters that make the difference; empty if no known name is similar. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  if (nearest === undefined) return '';
  if (name.replaceAll(INVISIBLE, '') !== nearest.replaceAll(INVISIBLE, '')) return `: did you mean ${nearest}?`;
  const characters = [...new Set(`${name}${nearest}`.match(INVISIBLE))].map(
    (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return `: ${nearest} looks the same except for invisible characters (${characters.join(', ')})`;
}

/** An error about an unknown name, which suggests the nearest known one and lists the first of them. @param what such as `run "a" has no arm` */
export function unknownNameError(what: string, name: string, known: readonly string[]): BenchError {
  const others = known.length > 8 ? `, and ${known.length - 8} more` : '';
  const hint = known.length === 0 ? 'it has none' : `it has ${known.slice(0, 8).join(', ')}${others}`;
  return new BenchError('not-found', `${what} "${name}"${didYouMean(name, known)}`, hint);
}
