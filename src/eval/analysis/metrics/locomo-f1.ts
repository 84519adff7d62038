import { porterStem } from './porter-stem.ts';

/** Categories of questions with rules of their own, by the names that the conversion gives them. */
const SEVERAL_ANSWERS = 'multi-hop';
/** Phrases with which an answer to an adversarial question declines, as published. */
const DECLINES = ['no information available', 'not mentioned'];

/** ASCII punctuation. */
const PUNCTUATION = /[!-/:-@[-`{-~]/g;
/** Words that do not count, "and" among them. */
const UNCOUNTED = /(?<![\p{L}\p{N}_])(?:a|an|the|and)(?![\p{L}\p{N}_])/gu;

function stems(text: string): string[] {
  const plain = text.toLowerCase().replaceAll(PUNCTUATION, '').replaceAll(UNCOUNTED, ' ');
  return plain
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(porterStem);
}

/** Harmonic mean of precision and recall over bags of stems. */
function stemF1(answer: string, gold: string): number {
  const [given, wanted] = [stems(answer), stems(gold)];
  const left = new Map<string, number>();
  for (const stem of wanted) left.set(stem, (left.get(stem) ?? 0) + 1);
  let common = 0;
  for (const stem of given) {
    const count = left.get(stem) ?? 0;
    if (count === 0) continue;
    left.set(stem, count - 1);
    common++;
  }
  return common === 0 ? 0 : (2 * common) / (given.length + wanted.length);
}

/** Each part of the gold against the part of the answer that fits it best; parts end at commas. */
function partsF1(answer: string, gold: string): number {
  const given = answer.split(',');
  const wanted = gold.split(',');
  const best = wanted.map((part) => Math.max(...given.map((one) => stemF1(one, part))));
  return best.reduce((sum, value) => sum + value, 0) / best.length;
}

/** Stemmed F1, best over the golds: the score of a category without a rule of its own. */
export function stemmedF1(answer: string, golds: readonly string[]): number {
  return Math.max(0, ...golds.map((gold) => stemF1(answer, gold)));
}

/**
 * The score of LoCoMo's own evaluation, 0 to 1: F1 over Porter stems; of multi-hop questions the mean over the comma-separated parts
 * of the gold; of adversarial ones, which have no gold, 1 where the answer says that nothing is mentioned. Of open-domain ones the
 * part of the key before its reason counts, which the conversion has cut.
 * @see Maharana et al. 2024; task_eval/evaluation.py of snap-research/locomo
 */
export function locomoF1(answer: string, golds: readonly string[], category: string | undefined): number {
  if (golds.length === 0) return Number(DECLINES.some((phrase) => answer.toLowerCase().includes(phrase)));
  if (category !== SEVERAL_ANSWERS) return stemmedF1(answer, golds);
  return Math.max(...golds.map((gold) => partsF1(answer, gold)));
}
