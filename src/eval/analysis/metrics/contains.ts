import { countSentences, firstSentence } from '../../../base/sentence-boundaries.ts';
import { type Span, findSpans, type Word, splitWords, splitWordsVersion1 } from '../../../data/split-words.ts';
import { isAbstention } from '../../../data/abstention.ts';
import { type MetricsVersion, metricsVersion } from './metrics-version.ts';
import { hasNegation, isNegated } from './negation.ts';
import { exactMatch, squadExactMatch } from './text-overlap.ts';
import { type KnownLanguage, knownLanguage, type Language } from '../../../base/language.ts';
import type { UserLanguage } from '../../../data/dataset.ts';

export interface AnswerSetting extends UserLanguage {
  readonly query: string;
  /** Wrong values: superseded ones, and those of other memories shown with the same relation. */
  readonly rivals: readonly string[];
  /** Values of all other memories shown: reciting them is not answering. */
  readonly bystanders: readonly string[];
  /** Texts of the evidence that was shown: an answer may deny what they deny. */
  readonly evidenceTexts: readonly string[];
  /** Default: the version of new runs. */
  readonly version?: MetricsVersion;
}

/** A list has commas or conjunctions; a Chinese one has 、. */
const LISTS: Readonly<Record<KnownLanguage, { readonly isList: RegExp; readonly conjunction: RegExp }>> = {
  en: { isList: /, |\s(?:and|&)\s/iu, conjunction: /\s(?:and|&)\s/giu },
  zh: { isList: /、/u, conjunction: /以及|[和与及]/gu },
};

/** Splits texts into words. If a gold is a list, conjunctions count as commas in all texts. */
function wordSplitter(golds: readonly string[], { language, version = metricsVersion }: AnswerSetting) {
  if (version === 1) return (text: string): Word[] => splitWordsVersion1(text, language);
  const known = knownLanguage(language);
  const rules = known === undefined ? undefined : LISTS[known];
  const isList = golds.some((gold) => rules?.isList.test(gold));
  return (text: string): Word[] =>
    splitWords(isList ? text.replaceAll(rules!.conjunction, ', ') : text, language, version);
}

const PRONOUN = /^(?:i|you|he|she|it|they|we|this|that|there|your|his|her|their|my)$/u;

/** "No effect" does not say no, nor does 是 in the middle of a clause say yes. */
function isOtherWord(words: readonly Word[], { from, to }: Span, language: Language): boolean {
  const { text, clause } = words[from]!;
  if (to - from !== 1) return false;
  if (knownLanguage(language) === 'zh') return /^[是对對]$/u.test(text) && words[from - 1]?.clause === clause;
  const next = words[to];
  return text === 'no' && next?.clause === clause && !PRONOUN.test(next.text);
}

/** An answer with this many unrequested values is a recital; so is one with two, if only two were shown. */
const RECITAL = 3;

function isWithin(span: Span, others: readonly Span[]): boolean {
  return others.some(({ from, to }) => from <= span.from && to >= span.to && to - from > span.to - span.from);
}

/** True if a text contains one of the golds and denies it. */
function denies(words: readonly Word[], golds: readonly (readonly Word[])[], language: Language): boolean {
  return golds.some((gold) => findSpans(words, gold).some((span) => isNegated(words, span, language)));
}

function sentenceHit(
  sentence: string,
  golds: readonly string[],
  cut: (text: string) => Word[],
  { query, rivals, bystanders, evidenceTexts, language }: AnswerSetting,
): boolean {
  const words = cut(sentence);
  const wanted = golds.map(cut);
  const asked = cut(query);
  const isGold = (form: readonly Word[]): boolean =>
    wanted.some((gold) => gold.length === form.length && findSpans(gold, form).length > 0);
  const spansOfValues = (values: readonly string[]): Span[][] =>
    [...new Set(values)]
      .map(cut)
      .filter((value) => !isGold(value) && findSpans(asked, value).length === 0)
      .map((value) => findSpans(words, value));
  const found = wanted.flatMap((gold) => findSpans(words, gold));
  const [wrong, idle] = [spansOfValues(rivals), spansOfValues(bystanders)];
  const others = [...wrong, ...idle].flat();
  // "Port Dral" is not found in "Port Dral East" where that is a value, nor "Port" in "Port Dral".
  const hits = found.filter((span) => !isWithin(span, others) && !isOtherWord(words, span, language));
  const held = (spans: readonly Span[]): boolean => spans.some((span) => !isWithin(span, found));
  if (hits.length === 0 || wrong.some(held)) return false;
  const recited = idle.filter(held).length;
  if (recited >= RECITAL || (recited >= 2 && recited === idle.length)) return false;
  return (
    hits.every((span) => !isNegated(words, span, language)) ||
    hasNegation(asked, language) ||
    evidenceTexts.some((text) => denies(cut(text), wanted, language))
  );
}

/**
 * 1 if the first sentence (as many as the gold has) contains a gold and no rival value, recital, negation or
 * abstention; else 0. A value that the question itself names is no rival. @see docs/metrics.md
 */
export function contains(answer: string, golds: readonly string[], setting: AnswerSetting): 0 | 1 {
  const { unknownAnswer, language, version } = setting;
  const cut = wordSplitter(golds, setting);
  const equals = version === 1 ? squadExactMatch : exactMatch;
  const declines = (text: string): boolean => isAbstention(text, unknownAnswer, language);
  const hit = golds.some((gold) => {
    if (declines(gold)) return declines(answer);
    const words = cut(gold);
    // A gold such as "?!" has no words.
    if (words.length === 0) return equals(answer, [gold], language) === 1;
    const sentence = firstSentence(answer, countSentences(gold));
    return (
      !declines(sentence) && findSpans(cut(sentence), words).length > 0 && sentenceHit(sentence, golds, cut, setting)
    );
  });
  return hit ? 1 : 0;
}
