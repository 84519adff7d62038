import { knownLanguage, type Language } from '../../../base/language.ts';
import type { Span, Word } from '../../../data/split-words.ts';

const NEGATOR =
  /^(?:not|never|neither|nor|cannot|\p{L}+n't|(?:is|was|are|were|do|does|did|has|have|had|ca|wo|would|could|should)nt)$/u;

/** Words that cancel the negator before them: "not only", "don't forget". */
const HARMLESS = new Set('only just merely simply forget worry far'.split(' '));

/** Words that may separate a value from the denial behind it: "Dubois is actually not". */
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
  // "不是奥斯陆而是都灵" denies only the first place.
  const before = join(0, from, words[from]!.clause)
    .split(/而是|但是|但/u)
    .at(-1)!;
  return (
    CHINESE_BEFORE.test(before.replaceAll(CHINESE_HARMLESS, '')) ||
    CHINESE_BEHIND.test(join(to, words.length, words[to - 1]!.clause))
  );
}

/** True if a text denies anything: "What do I not eat?". */
export function hasNegation(text: readonly Word[], language: Language): boolean {
  const words = text.map((word) => word.text);
  const known = knownLanguage(language);
  if (known === undefined) return false;
  if (known === 'en') return words.some((_, place) => deniesAt(words, place));
  // 是不是 asks a question and denies nothing.
  return CHINESE_BEFORE.test(
    words
      .join('')
      .replaceAll(/(.)不\1/gu, '')
      .replaceAll(CHINESE_HARMLESS, ''),
  );
}

/** True if the clause of a value denies it, before or right behind it, by word lists. @see docs/metrics.md */
export function isNegated(words: readonly Word[], span: Span, language: Language): boolean {
  const known = knownLanguage(language);
  if (known === undefined) return false;
  return known === 'zh' ? chinese(words, span) : english(words, span);
}
