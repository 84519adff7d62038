import { countSentences, firstSentence } from '../../../base/first-sentence.ts';
import type { UserLanguage } from '../../../data/dataset.ts';
import { isAbstention } from './abstention.ts';
import { hasNegation, isNegated } from './negation.ts';
import { exactMatch } from './text-overlap.ts';
import { holdsWords, type Span, spansOf, type Word, wordsOf } from './words.ts';

/** What an answer is judged by, beside its golds. */
export interface AnswerSetting extends UserLanguage {
  readonly query: string;
  /** Wrong values: superseded ones, and those of other memories shown with the same relation. */
  readonly rivals: readonly string[];
  /** Values of all other memories shown: reciting them is not answering. */
  readonly bystanders: readonly string[];
  /** Texts of the evidence that was shown: an answer may deny what they deny. */
  readonly evidenceTexts: readonly string[];
}

/** This many unrequested values are a recital, and so are two if that is all of them. */
const RECITAL = 3;

function isWithin(span: Span, others: readonly Span[]): boolean {
  return others.some(({ from, to }) => from <= span.from && to >= span.to && to - from > span.to - span.from);
}

/** True if a text denies one of the golds that it holds. */
function denies(text: string, golds: readonly (readonly Word[])[], language: AnswerSetting['language']): boolean {
  const words = wordsOf(text, language);
  return golds.some((gold) => spansOf(words, gold).some((span) => isNegated(words, span, language)));
}

function sentenceHit(sentence: string, golds: readonly string[], setting: AnswerSetting): boolean {
  const { query, rivals, bystanders, evidenceTexts, language } = setting;
  const words = wordsOf(sentence, language);
  const wanted = golds.map((gold) => wordsOf(gold, language));
  const isGold = (value: string): boolean => {
    const form = wordsOf(value, language);
    return wanted.some((gold) => gold.length === form.length && spansOf(gold, form).length > 0);
  };
  const spansOfValues = (values: readonly string[]): Span[][] =>
    [...new Set(values)]
      .filter((value) => !isGold(value) && !holdsWords(query, value, language))
      .map((value) => spansOf(words, wordsOf(value, language)));
  const found = wanted.flatMap((gold) => spansOf(words, gold));
  const [wrong, idle] = [spansOfValues(rivals), spansOfValues(bystanders)];
  const others = [...wrong, ...idle].flat();
  // "Port Dral" is not found in "Port Dral East" where that is a value, nor "Port" in "Port Dral".
  const hits = found.filter((span) => !isWithin(span, others));
  const held = (spans: readonly Span[]): boolean => spans.some((span) => !isWithin(span, found));
  if (hits.length === 0 || wrong.some(held)) return false;
  const recited = idle.filter(held).length;
  if (recited >= RECITAL || (recited >= 2 && recited === idle.length)) return false;
  return (
    hits.every((span) => !isNegated(words, span, language)) ||
    hasNegation(query, language) ||
    evidenceTexts.some((text) => denies(text, wanted, language))
  );
}

/**
 * 1 if the first sentence of an answer holds a gold, word by word, and nothing that takes it back: no rival value, no recital
 * of the memories shown, no negation; else 0. A gold of several sentences is searched in as many. An abstention is no hit.
 * A value that the question itself names is no rival.
 * @see docs/metrics.md
 */
export function contains(answer: string, golds: readonly string[], setting: AnswerSetting): 0 | 1 {
  const { unknownAnswer, language } = setting;
  const hit = golds.some((gold) => {
    // "?!" has no words to look for.
    if (wordsOf(gold, language).length === 0) return exactMatch(answer, [gold], language) === 1;
    const sentence = firstSentence(answer, countSentences(gold));
    return (
      !isAbstention(sentence, unknownAnswer, language) &&
      holdsWords(sentence, gold, language) &&
      sentenceHit(sentence, golds, setting)
    );
  });
  return hit ? 1 : 0;
}
