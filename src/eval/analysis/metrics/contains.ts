import { countSentences, firstSentence } from '../../../base/first-sentence.ts';
import type { UserLanguage } from '../../../data/dataset.ts';
import { isAbstention } from './abstention.ts';
import { exactMatch } from './text-overlap.ts';
import type { Language } from '../../../base/language.ts';

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
function hasNegation(text: string, language: Language): boolean {
  const words = wordsOf(text, language).map((word) => word.text);
  if (language === 'en') return words.some((_, place) => deniesAt(words, place));
  // 是不是 asks, and denies nothing.
  return CHINESE_BEFORE.test(
    words
      .join('')
      .replaceAll(/(.)不\1/gu, '')
      .replaceAll(CHINESE_HARMLESS, ''),
  );
}

/**
 * True where the clause of a value denies it: a negator before it ("is not Dubois", "isn't", "no longer", 不是) or right behind
 * it ("Dubois is not …"). By word lists, without a parser: docs/metrics.md says what escapes it.
 */
function isNegated(words: readonly Word[], span: Span, language: Language): boolean {
  return language === 'zh' ? chinese(words, span) : english(words, span);
}

/** A word of a text in normal form, and the number of its clause. */
interface Word {
  readonly text: string;
  readonly clause: number;
}

/** Words `from` up to `to`, exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A run of letters and digits: "don't", "16:30", "2024-05-14" and "-5" are one; a hyphen between letters parts two. */
const RUN =
  /(?:(?<![\p{L}\p{N}])-(?=\p{N}))?[\p{L}\p{N}\p{M}]+(?:'[\p{L}\p{M}]+|(?<=\p{N})[.,:/–-](?=\p{N})[\p{L}\p{N}]+)*/gu;

const BREAK: Readonly<Record<Language, RegExp>> = {
  en: /[,;()—…!?\n]|\.\s|: /u,
  zh: /[,;()—…!?\n，、；：（）。！？]/u,
};

/** Words that begin a clause. */
const LINKS = new Set('but and or although though while whereas because so then if who which yet'.split(' '));
const ARTICLES = new Set(['a', 'an', 'the']);

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/gu, '');
}

/**
 * Splits a text into words for the search of values: NFKC, lower case, no articles before a word and no possessive 's; in Chinese one word a Han character. A number with its signs is one word, so that "7" is not found in "7:30".
 */
function wordsOf(text: string, language: Language): Word[] {
  const form = language === 'zh' ? plain(text).replaceAll(/\p{Script=Han}/gu, ' $& ') : plain(text);
  const words: Word[] = [];
  let clause = 0;
  let end = 0;
  for (const match of form.matchAll(RUN)) {
    const word = language === 'en' ? match[0].replace(/'s$/u, '') : match[0];
    if (BREAK[language].test(form.slice(end, match.index))) clause++;
    else if (language === 'en' && LINKS.has(word)) clause++;
    end = match.index + match[0].length;
    words.push({ text: word, clause });
  }
  // "type A" ends in a name.
  const isArticle = ({ text: word, clause: own }: Word, place: number): boolean =>
    ARTICLES.has(word) && words[place + 1]?.clause === own;
  return language === 'en' ? words.filter((word, place) => !isArticle(word, place)) : words;
}

/** Places of the words of `part` in `words`, one after the other. */
function spansOf(words: readonly Word[], part: readonly Word[]): Span[] {
  if (part.length === 0) return [];
  return words.flatMap((_, from) =>
    part.every((word, index) => words[from + index]?.text === word.text) ? { from, to: from + part.length } : [],
  );
}

/** True where `part` stands in `text`, word by word. */
function holdsWords(text: string, part: string, language: Language): boolean {
  return spansOf(wordsOf(text, language), wordsOf(part, language)).length > 0;
}
