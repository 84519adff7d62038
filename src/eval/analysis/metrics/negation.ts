import { knownLanguage, type Language } from '../../../base/language.ts';
import type { Span, Word } from '../../../data/split-words.ts';

const NEGATOR =
  /^(?:not|never|neither|nor|cannot|\p{L}+n't|(?:is|was|are|were|do|does|did|has|have|had|ca|wo|would|could|should)nt)$/u;

/** Words that cancel the negator before them: "not only", "don't forget", "if I'm not mistaken". */
const HARMLESS = new Set('only just merely simply forget worry wait mistaken wrong far'.split(' '));

/** Words that may separate a value from the denial behind it: "Dubois is actually not". */
const BETWEEN =
  'is was are were be been has have had does do did can could will would should may might it that actually also now'.split(
    ' ',
  );

const CHINESE_HARMLESS =
  /不仅|不但|不过(?!敏)|不错|不少|不久|不同|不断|不只|不光|不管|不论|不得不|不客气|不锈钢|差不多|对不起|不好意思|没错|没问题|没关系|没多久|没想到|没记错|非常|非洲|除非|并非不|未来|未婚|特别|别人|别墅|分别|告别|区别|级别|性别/gu;
const CHINESE_BEFORE = /不|没|非|未|别|勿|无法/u;
const CHINESE_BEHIND = /^(?:现在|已经|早就|也|都|就)*(?:不是|并不|并非|不再|不叫|没有)/u;
/** "对花生不过敏": behind a preposition and its object, the negator of the verb denies both. */
const CHINESE_PREPOSITION = /[对跟和与在给向]$/u;
const CHINESE_VERB_DENIED = /^(?:也|都|并|就)?[不没]/u;

/** Removes words that deny nothing, and writes the negators of traditional Chinese as simplified ones. */
function chineseNegators(text: string): string {
  const simplified = text
    .replaceAll('沒', '没')
    .replaceAll('別', '别')
    .replaceAll('無法', '无法')
    .replaceAll('過', '过');
  return simplified.replaceAll(CHINESE_HARMLESS, '');
}

function deniesAt(words: readonly string[], place: number): boolean {
  const [word, next] = [words[place]!, words[place + 1] ?? ''];
  if (word === 'no') return next === 'longer' || (next === 'more' && words.length > place + 2);
  return NEGATOR.test(word) && !HARMLESS.has(next);
}

function english(words: readonly Word[], { from, to }: Span): boolean {
  const clauseOf = (place: number): number => words[place]!.clause;
  const texts = (start: number, end: number, clause: number): string[] =>
    words.slice(start, end).flatMap((word) => (word.clause === clause ? word.text : []));
  // "neither Oslo or Turin": what denies the first denies the second.
  const isContinued = /^(?:or|nor)$/u.test(words.find(({ clause }) => clause === clauseOf(from))!.text);
  const before = [...(isContinued ? texts(0, from, clauseOf(from) - 1) : []), ...texts(0, from, clauseOf(from))];
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
  // "不是奥斯陆而是都灵" denies only the first place.
  const before = chineseNegators(join(0, from, words[from]!.clause))
    .split(/而是|但是|但/u)
    .at(-1)!;
  const behind = chineseNegators(join(to, words.length, words[to - 1]!.clause));
  return (
    CHINESE_BEFORE.test(before) ||
    CHINESE_BEHIND.test(behind) ||
    (CHINESE_PREPOSITION.test(before) && CHINESE_VERB_DENIED.test(behind))
  );
}

/** True if a text denies anything: "What do I not eat?". */
export function hasNegation(text: readonly Word[], language: Language): boolean {
  const words = text.map((word) => word.text);
  const known = knownLanguage(language);
  if (known === undefined) return false;
  if (known === 'en') return words.some((_, place) => deniesAt(words, place));
  // 是不是 asks a question and denies nothing.
  return CHINESE_BEFORE.test(chineseNegators(words.join('').replaceAll(/(.)不\1/gu, '')));
}

/** True if the clause of a value denies it, before or right behind it, by word lists. @see docs/metrics.md */
export function isNegated(words: readonly Word[], span: Span, language: Language): boolean {
  const known = knownLanguage(language);
  if (known === undefined) return false;
  return known === 'zh' ? chinese(words, span) : english(words, span);
}
