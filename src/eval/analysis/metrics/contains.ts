import { countSentences, firstSentence } from '../../../base/sentence-boundaries.ts';
import type { UserLanguage } from '../../../data/dataset.ts';
import { type Span, spansOf, type Word, wordsOf, wordsOfVersion1 } from '../../../data/split-words.ts';
import { isAbstention } from './abstention.ts';
import { type MetricsVersion, metricsVersion } from './metrics-version.ts';
import { exactMatch, squadExactMatch } from './text-overlap.ts';
import { knownLanguage, type Language } from '../../../base/language.ts';

export interface AnswerSetting extends UserLanguage {
  readonly query: string;
  /** Wrong values: superseded ones, and those of other memories shown with the same relation. */
  readonly rivals: readonly string[];
  /** Values of all other memories shown: reciting them is not answering. */
  readonly bystanders: readonly string[];
  /** Texts of the evidence that was shown: an answer may deny what they deny. */
  readonly evidenceTexts: readonly string[];
  /** Default: that of new runs. */
  readonly version?: MetricsVersion;
}

const cutter =
  ({ language, version = metricsVersion }: AnswerSetting) =>
  (text: string): Word[] =>
    (version === 1 ? wordsOfVersion1 : wordsOf)(text, language);

/** This many unrequested values are a recital, and so are two if that is all of them. */
const RECITAL = 3;

function isWithin(span: Span, others: readonly Span[]): boolean {
  return others.some(({ from, to }) => from <= span.from && to >= span.to && to - from > span.to - span.from);
}

/** True if the words of a text deny one of the golds that they hold. */
function denies(words: readonly Word[], golds: readonly (readonly Word[])[], language: Language): boolean {
  return golds.some((gold) => spansOf(words, gold).some((span) => isNegated(words, span, language)));
}

function sentenceHit(sentence: string, golds: readonly string[], setting: AnswerSetting): boolean {
  const { query, rivals, bystanders, evidenceTexts, language } = setting;
  const cut = cutter(setting);
  const words = cut(sentence);
  const wanted = golds.map(cut);
  const asked = cut(query);
  const isGold = (form: readonly Word[]): boolean => {
    return wanted.some((gold) => gold.length === form.length && spansOf(gold, form).length > 0);
  };
  const spansOfValues = (values: readonly string[]): Span[][] =>
    [...new Set(values)]
      .map(cut)
      .filter((value) => !isGold(value) && spansOf(asked, value).length === 0)
      .map((value) => spansOf(words, value));
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
    hasNegation(asked, language) ||
    evidenceTexts.some((text) => denies(cut(text), wanted, language))
  );
}

/**
 * 1 if the first sentence (as many as the gold has) holds a gold, and nothing that takes it back: no rival value, recital,
 * negation or abstention; else 0. A value that the question itself names is no rival. @see docs/metrics.md
 */
export function contains(answer: string, golds: readonly string[], setting: AnswerSetting): 0 | 1 {
  const { unknownAnswer, language, version } = setting;
  const cut = cutter(setting);
  const equals = version === 1 ? squadExactMatch : exactMatch;
  const hit = golds.some((gold) => {
    const words = cut(gold);
    // "?!" has no words to look for.
    if (words.length === 0) return equals(answer, [gold], language) === 1;
    const sentence = firstSentence(answer, countSentences(gold));
    return (
      !isAbstention(sentence, unknownAnswer, language) &&
      spansOf(cut(sentence), words).length > 0 &&
      sentenceHit(sentence, golds, setting)
    );
  });
  return hit ? 1 : 0;
}

const NEGATOR =
  /^(?:not|never|neither|nor|cannot|\p{L}+n't|(?:is|was|are|were|do|does|did|has|have|had|ca|wo|would|could|should)nt)$/u;

/** Words that take the denial away: "not only", "don't forget". */
const HARMLESS = new Set('only just merely simply forget worry far'.split(' '));

/** Words that may stand between a value and the denial behind it: "Dubois is actually not". */
const BETWEEN =
  'is was are were be been has have had does do did can could will would should may might it that actually also now'.split(
    ' ',
  );

const CHINESE_HARMLESS =
  /不仅|不但|不过|不错|不少|不久|不同|不断|不只|不光|差不多|对不起|不好意思|没错|没问题|非常|除非|并非不|特别|别人|分别|告别/gu;
const CHINESE_BEFORE = /不|没|非|未|别|勿/u;
const CHINESE_BEHIND = /^(?:现在|已经|早就|也|都|就)*(?:不是|并不|并非|不再|不叫|没有)/u;

function deniesAt(words: readonly string[], place: number): boolean {
  const [word, next] = [words[place]!, words[place + 1] ?? ''];
  if (word === 'no') return next === 'longer' || (next === 'more' && words.length > place + 2);
  return NEGATOR.test(word) && !HARMLESS.has(next);
}

function english(words: readonly Word[], { from, to }: Span): boolean {
  const clauseOf = (place: number): number => words[place]!.clause;
  const texts = (start: number, end: number, clause: number): string[] =>
    words.slice(start, end).flatMap((word) => (word.clause === clause ? word.text : []));
  const before = texts(0, from, clauseOf(from));
  const whole = [...before, words[from]!.text];
  if (before.some((_, place) => deniesAt(whole, place))) return true;
  // "no Dubois", and not "No. 5".
  if (before.at(-1) === 'no' && !/^\p{N}/u.test(words[from]!.text)) return true;
  const behind = texts(to, words.length, clauseOf(to - 1));
  const first = behind.findIndex((word) => !BETWEEN.includes(word));
  if (first !== -1 && deniesAt(behind, first)) return true;
  // "Dubois, who is no longer …", "Dubois, but not any more".
  const next = texts(to, words.length, clauseOf(to - 1) + 1).join(' ');
  return /^(?:who|which|but) (?:is |was |has |have |are |were )?(?:no longer\b|(?:not|\S+n't)\b.*\bany ?more\b)/u.test(
    next,
  );
}

function chinese(words: readonly Word[], { from, to }: Span): boolean {
  const join = (start: number, end: number, clause: number): string =>
    words
      .slice(start, end)
      .flatMap((word) => (word.clause === clause ? word.text : []))
      .join('');
  // "不是奥斯陆而是都灵" denies the first alone.
  const before = join(0, from, words[from]!.clause)
    .split(/而是|但是|但/u)
    .at(-1)!;
  return (
    CHINESE_BEFORE.test(before.replaceAll(CHINESE_HARMLESS, '')) ||
    CHINESE_BEHIND.test(join(to, words.length, words[to - 1]!.clause))
  );
}

/** True where a text denies something, whatever it is: "What do I not eat?". */
function hasNegation(asked: readonly Word[], language: Language): boolean {
  const words = asked.map((word) => word.text);
  const known = knownLanguage(language);
  if (known === undefined) return false;
  if (known === 'en') return words.some((_, place) => deniesAt(words, place));
  // 是不是 asks, and denies nothing.
  return CHINESE_BEFORE.test(
    words
      .join('')
      .replaceAll(/(.)不\1/gu, '')
      .replaceAll(CHINESE_HARMLESS, ''),
  );
}

/** True where the clause of a value denies it, before or right behind it, by word lists. @see docs/metrics.md */
function isNegated(words: readonly Word[], span: Span, language: Language): boolean {
  const known = knownLanguage(language);
  if (known === undefined) return false;
  return known === 'zh' ? chinese(words, span) : english(words, span);
}
