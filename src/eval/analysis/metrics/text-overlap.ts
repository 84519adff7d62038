import type { Language } from '../../../base/language.ts';
import { containsTokens, normalise, splitTokens } from '../../../data/normalise-text.ts';
import type { WordsVersion } from '../../../data/number-wordings.ts';
import { holdsWords, wordForm } from '../../../data/split-words.ts';

/** Scores an answer by its golds alone, 0 to 1. */
export type TextMetric = (answer: string, golds: readonly string[], language: Language) => number;

type VersionedMetric = (...given: [...Parameters<TextMetric>, version?: WordsVersion]) => number;

/** 1 if the answer has the words of one of the golds and no others, else 0. */
export const exactMatch: VersionedMetric = (answer, golds, language, version) => {
  const form = wordForm(answer, language, version);
  return Number(form !== '' && golds.some((gold) => wordForm(gold, language, version) === form));
};

/** 1 if the answer equals one of the golds in SQuAD's normal form, else 0. */
export const squadExactMatch: TextMetric = (answer, golds, language) => {
  const form = normalise(answer, language);
  return Number(form !== '' && golds.some((gold) => normalise(gold, language) === form));
};

/** 1 if the answer holds the words of one of the golds, whatever stands around them, else 0. */
export const memoryRecall: VersionedMetric = (answer, golds, language, version) =>
  Number(golds.some((gold) => holdsWords(answer, gold, language, version)));

/** Version 1 of `memoryRecall`: by tokens of SQuAD's normal form. */
export const squadRecall: TextMetric = (answer, golds, language) =>
  Number(golds.some((gold) => containsTokens(answer, gold, language)));

/** Harmonic mean of precision and recall over two bags of tokens. */
export function bagF1(answer: readonly string[], gold: readonly string[]): number {
  const common = matches(answer, [gold], 1);
  return common === 0 ? 0 : (2 * common) / (answer.length + gold.length);
}

/** Harmonic mean of token precision and recall over bags of tokens, 0 to 1, best over the golds (SQuAD's F1). */
export function tokenF1(answer: string, golds: readonly string[], language: Language): number {
  const tokens = splitTokens(answer, language);
  return Math.max(0, ...golds.map((gold) => bagF1(tokens, splitTokens(gold, language))));
}

function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const token of a) {
    const next = [0];
    b.forEach((other, index) => {
      next.push(token === other ? row[index]! + 1 : Math.max(row[index + 1]!, next[index]!));
    });
    row = next;
  }
  return row[b.length]!;
}

/** F1 of the longest common subsequence of tokens, best over the golds. @see Lin 2004, ROUGE, §3.1, with β = 1 */
export function rougeL(answer: string, golds: readonly string[], language: Language): number {
  const tokens = splitTokens(answer, language);
  const scores = golds.map((gold) => {
    const reference = splitTokens(gold, language);
    const common = longestCommonSubsequence(tokens, reference);
    return common === 0 ? 0 : (2 * common) / (tokens.length + reference.length);
  });
  return Math.max(0, ...scores);
}

const LONGEST = 4;

function countNgrams(tokens: readonly string[], length: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + length <= tokens.length; start++) {
    const gram = tokens.slice(start, start + length).join(' ');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

/** Clipped matches: n-grams of the answer, each counted at most as often as in the reference that has it most often. */
function matches(answer: readonly string[], references: readonly (readonly string[])[], length: number): number {
  const allowed = references.map((reference) => countNgrams(reference, length));
  let sum = 0;
  for (const [gram, count] of countNgrams(answer, length)) {
    sum += Math.min(count, Math.max(...allowed.map((counts) => counts.get(gram) ?? 0)));
  }
  return sum;
}

/** The reference length closest to `length`; of two, the shorter. */
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
  const tokens = splitTokens(answer, language);
  const references = golds.map((gold) => splitTokens(gold, language)).filter(({ length }) => length > 0);
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
