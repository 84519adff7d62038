/** Chinese marks. They always end a sentence. */
const WIDE_MARKS = '。！？｡';
/** All marks that may end a sentence. */
const MARKS = `.!?…${WIDE_MARKS}`;
/** Closing characters after a mark, which still belong to the sentence. */
const CLOSERS = `"'”’」』）)】］]》〉*_\``;

const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/u;
const HAN = /^\p{Script=Han}/u;
const CAPITAL = /^[\p{Lu}\p{Lt}]/u;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
/** A line with such an ending continues on the next line. */
const GOES_ON = /[:,：，、]$/u;
/** One letter, or letters with points between them: initials, `U.S`, `a.m`. */
const LETTERS = /^\p{L}(?:\.\p{L})*$/u;
const LIST_NUMBER = /^\p{Nd}{1,3}$/u;
const LINE_START = /(?:^|[\n\r])\s*$/u;

/** The word before a point; a dash, a colon or a bracket starts a new word. */
const LAST_WORD = /[^\s"'“‘「『（([【［《〈*_,;:/–—-]*$/u;
/** Opening quotation marks and brackets, the word after them, and the character after the word. */
const NEXT_WORD = /^["'“‘「『（([【［《〈*_`]*([\p{L}\p{M}\p{N}]*)(.?)/su;

/** Titles and abbreviations that never end a sentence, without their last point. */
const NEVER_LAST = words(
  'Dr dr Mr mr Mrs mrs Ms ms Mx Prof prof Rev Fr Gen Col Maj Capt Lt Sgt Cmdr Gov Sen Rep Hon Messrs Mme Mlle ' +
    'vs viz cf approx vol pp Ph.D e.g i.e',
);
/** Abbreviations that end a sentence only if the next word begins one. */
const MAYBE_LAST = words(
  'st mt ft jr sr esq etc inc ltd co corp bros dept est al no nos nr ave blvd rd sq apt max min hr hrs oz lb lbs tel ext ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun',
);
/** Words that begin a sentence if capitalised, since they are not part of names. */
const STARTERS = words(
  'the this that these those there here it he she they we you your yours i my his her hers its our their a an in on at as ' +
    'and but so or if then when while what where who how however also now because since for to from with please do does ' +
    'is are was no not yes user assistant according based note',
);

/** Courtesies that open an answer; they belong to the sentence behind them. */
const COURTESIES =
  /^(?:[^\p{L}\p{N}]*(?:sure(?: thing)?|of course|certainly|absolutely|okay|ok|great question|(?:hello|hi|hey)(?: there| \p{Lu}\p{L}+)?|(?:i['’]?m |i am )?(?:so |very )?sorry|i apologi[sz]e|好的?|当然(?:可以)?|没问题|[你您]好|(?:很|非常)?抱歉|对不起|不好意思)[!.。！]+(?=\s|\p{Script=Han}))+/iu;

/**
 * The index after the first sentence of an English or Chinese text, found by rules. Undefined if there is no second
 * sentence, or if only later text can tell. A sentence ends at a line break, except after a colon or comma; after `。`, `！`
 * and `？` as soon as something else follows; and after `.`, `!` and `?` before white space, but not after an opening
 * courtesy ("Sure!"). The points of `Dr.`, `e.g.` and `4.5` never end one; those of `J.`, `U.S.`, `a.m.`, `Inc.`, `…` and
 * list numbers do only if the next word begins a sentence.
 *
 * @param isWhole no text will be appended, so that the last word is complete
 */
export function sentenceEnd(text: string, isWhole = false): number | undefined {
  const found = firstEnd(text, isWhole);
  return found?.isOver === true ? found.end : undefined;
}

/** The first sentences of a complete text, trimmed; the whole text if it has no more. */
export function firstSentence(text: string, sentences = 1): string {
  let end = 0;
  for (let count = 0; count < sentences; count++) {
    const length = sentenceEnd(text.slice(end), true);
    if (length === undefined) return text.trim();
    end += length;
  }
  return text.slice(0, end).trim();
}

/** The sentences of a complete text, trimmed; what has no letter or digit is none. */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let rest = text.trim();
  while (WORD_CHARACTER.test(rest)) {
    const end = sentenceEnd(rest, true) ?? rest.length;
    sentences.push(rest.slice(0, end));
    rest = rest.slice(end).trim();
  }
  return sentences;
}

/** The number of sentences, at least one. */
export function countSentences(text: string): number {
  return Math.max(1, splitSentences(text).length);
}

/** The start of an unfinished text that stays in its first sentence when more text follows. */
export function surelyFirstSentence(text: string): string {
  return text.slice(0, firstEnd(text, false)?.end).trimEnd();
}

/** The first end of a sentence, or the first place that may turn out to be one. */
function firstEnd(text: string, isWhole: boolean): { readonly end: number; readonly isOver: boolean } | undefined {
  const opening = COURTESIES.exec(text)?.[0].length ?? 0;
  const start = opening + text.slice(opening).search(WORD_CHARACTER);
  if (start < opening) return undefined;
  for (let at = start; at < text.length; at++) {
    const isBreak = LINE_BREAK.test(text[at]!);
    if (!isBreak && !MARKS.includes(text[at]!)) continue;
    const before = text.slice(start, at).trimEnd();
    if (isBreak) {
      if (GOES_ON.test(before)) continue;
      return { end: start + before.length, isOver: true };
    }
    const marksEnd = skipCharacters(text, at, MARKS);
    const end = skipCharacters(text, marksEnd, CLOSERS);
    if (end === text.length) return undefined;
    const isOver = endsAt(before, text.slice(at, marksEnd), text.slice(end), isWhole);
    if (isOver !== false) return { end, isOver: isOver ?? false };
    at = end - 1;
  }
  return undefined;
}

/** True if these marks end a sentence; undefined if only later text can tell. */
function endsAt(before: string, marks: string, behind: string, isWhole: boolean): boolean | undefined {
  if ([...marks].some((mark) => WIDE_MARKS.includes(mark))) return true;
  const isEllipsis = /^(?:\.{2,}|…)[.…]*$/u.test(marks);
  if (HAN.test(behind)) return !isEllipsis;
  if (!/^\s/u.test(behind)) return false;
  const last = marks === '.' ? lastWordKind(before) : isEllipsis ? 'short' : 'word';
  return last === 'short' ? beginsSentence(behind, isWhole) : last === 'word';
}

/** True if a new sentence begins after an abbreviation; undefined while its first word is incomplete. */
function beginsSentence(behind: string, isWhole: boolean): boolean | undefined {
  const next = behind.trimStart();
  // After a line break any word does.
  if (LINE_BREAK.test(behind.slice(0, behind.length - next.length))) return true;
  const [, word = '', following = ''] = NEXT_WORD.exec(next)!;
  if (following === '' && !isWhole) return undefined;
  return HAN.test(word) || (CAPITAL.test(word) && STARTERS.has(word.toLowerCase()) && following !== '.');
}

/**
 * The kind of word before a point: a `title` never ends the sentence, a `short` form may, and any other `word` does.
 * @param before text up to the point
 */
function lastWordKind(before: string): 'title' | 'short' | 'word' {
  const word = LAST_WORD.exec(before)![0];
  if (NEVER_LAST.has(word)) return 'title';
  if (MAYBE_LAST.has(word.toLowerCase())) return 'short';
  if (LETTERS.test(word) && !HAN.test(word)) return 'short';
  return LIST_NUMBER.test(word) && LINE_START.test(before.slice(0, -word.length)) ? 'short' : 'word';
}

/** The first index from `at` on that holds none of these characters. */
function skipCharacters(text: string, at: number, characters: string): number {
  let end = at;
  while (end < text.length && characters.includes(text[end]!)) end++;
  return end;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
