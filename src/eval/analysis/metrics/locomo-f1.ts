import { porterStem } from './porter-stem.ts';
import { bagF1 } from './text-overlap.ts';

/** The category with golds that list several answers, as the conversion names it. */
const SEVERAL_ANSWERS = 'multi-hop';
/** Published phrases that decline an adversarial question. */
const DECLINES = ['no information available', 'not mentioned'];

const PUNCTUATION = /[!-/:-@[-`{-~]/g;
/** Words that the published script removes, including "and". */
const UNCOUNTED = /(?<![\p{L}\p{N}_])(?:a|an|the|and)(?![\p{L}\p{N}_])/gu;

function stems(text: string): string[] {
  const plain = text.toLowerCase().replaceAll(PUNCTUATION, '').replaceAll(UNCOUNTED, ' ');
  return plain
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(porterStem);
}

function stemF1(answer: string, gold: string): number {
  return bagF1(stems(answer), stems(gold));
}

function partsF1(answer: string, gold: string): number {
  const given = answer.split(',');
  const wanted = gold.split(',');
  const best = wanted.map((part) => Math.max(...given.map((one) => stemF1(one, part))));
  return best.reduce((sum, value) => sum + value, 0) / best.length;
}

export function stemmedF1(answer: string, golds: readonly string[]): number {
  return Math.max(0, ...golds.map((gold) => stemF1(answer, gold)));
}

/**
 * The score of LoCoMo's published evaluation, 0 to 1: F1 over Porter stems; for multi-hop questions the mean over the
 * comma-separated parts of the gold; for adversarial ones, which have no gold, 1 if the answer says that nothing is
 * mentioned. The conversion of the data already removed the explanations from the golds of open-domain questions.
 * @see Maharana et al. 2024; task_eval/evaluation.py of snap-research/locomo
 */
export function locomoF1(answer: string, golds: readonly string[], category: string | undefined): number {
  if (golds.length === 0) return Number(DECLINES.some((phrase) => answer.toLowerCase().includes(phrase)));
  if (category !== SEVERAL_ANSWERS) return stemmedF1(answer, golds);
  return Math.max(...golds.map((gold) => partsF1(answer, gold)));
}
