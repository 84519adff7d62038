import type { Language } from '../../../base/language.ts';
import { tokensOf } from '../../../data/normalise.ts';

const LONGEST = 4;

function counted(tokens: readonly string[], length: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + length <= tokens.length; start++) {
    const gram = tokens.slice(start, start + length).join(' ');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

/** n-grams of the answer that a reference has too, each as often as the reference that has it most often. */
function matches(answer: readonly string[], references: readonly (readonly string[])[], length: number): number {
  const allowed = references.map((reference) => counted(reference, length));
  let sum = 0;
  for (const [gram, count] of counted(answer, length)) {
    sum += Math.min(count, Math.max(...allowed.map((counts) => counts.get(gram) ?? 0)));
  }
  return sum;
}

/** The length of the reference that is nearest to the answer's, the shorter of two. */
function nearestLength(length: number, references: readonly (readonly string[])[]): number {
  const byDistance = references
    .map((reference) => reference.length)
    .sort((a, b) => Math.abs(a - length) - Math.abs(b - length) || a - b);
  return byDistance[0]!;
}

/**
 * Sentence BLEU, 0 to 1: the geometric mean of the precisions of 1- to 4-grams (as many as the answer has) times the
 * brevity penalty. An n-gram length without a match counts as half a match, then a quarter, and so on.
 * @see Papineni et al. 2002; Chen and Cherry 2014, smoothing 3; Post 2018, sacreBLEU, with `effective_order`
 */
export function bleu(answer: string, golds: readonly string[], language: Language): number {
  const tokens = tokensOf(answer, language);
  const references = golds.map((gold) => tokensOf(gold, language)).filter(({ length }) => length > 0);
  if (tokens.length === 0 || references.length === 0) return 0;
  const order = Math.min(LONGEST, tokens.length);
  const found = Array.from({ length: order }, (_, index) => matches(tokens, references, index + 1));
  if (found.every((count) => count === 0)) return 0;
  let smoothing = 1;
  const logs = found.map((count, index) => {
    const total = tokens.length - index;
    if (count > 0) return Math.log(count / total);
    smoothing /= 2;
    return Math.log(smoothing / total);
  });
  const mean = logs.reduce((sum, value) => sum + value, 0) / order;
  const brevity = Math.min(0, 1 - nearestLength(tokens.length, references) / tokens.length);
  return Math.exp(mean + brevity);
}
