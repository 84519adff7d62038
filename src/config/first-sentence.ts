/** Quotes, brackets and emphasis behind the mark that they belong to. */
const CLOSERS = `["'”’»)\\]」』）】*_]*`;
const MARK = new RegExp(`[。！？!?…]+${CLOSERS}|\\.+${CLOSERS}|\\n+`, 'gu');

/** A name follows, or more of the same sentence. */
const JOINING = new Set(
  'dr mr mrs ms mx prof gen col capt lt sgt rev hon fr gov sen rep vs cf no nr approx ca'.split(' '),
);

/** May end a sentence, or not. */
const SHORT = new Set(
  (
    'st mt ft jr sr inc ltd co corp bros etc ave rd blvd sq apt dept est ext min max hr hrs oz lb lbs ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun'
  ).split(' '),
);

/** Words that begin a sentence and stand in no name. */
const STARTERS = new Set(
  (
    'you your yours i my we our he his she her they their it its the this that these those there here in on at if as ' +
    'and but so then now please what when where who how user assistant according based note'
  ).split(' '),
);

/** `a.m`, `U.S` */
const DOTTED = /^(?:\p{L}\.)+\p{L}$/u;
const HIGHEST_LABEL = 20;

function beginsSentence(text: string): boolean {
  const next = /^[^\p{L}\p{N}]*(\p{Lu}\p{L}*)/u.exec(text)?.[1];
  return next !== undefined && STARTERS.has(next.toLowerCase());
}

/** True where a full stop behind `before` ends the sentence, and does not belong to its last word. */
function stops(before: string, after: string): boolean {
  const word = /[\p{L}\p{N}.]+$/u.exec(before)?.[0] ?? '';
  const lower = word.toLowerCase();
  if (JOINING.has(lower) || lower === 'e.g' || lower === 'i.e') return false;
  if (after.trim() === '') return true;
  // A list: "1. Lyon".
  if (before.trim() === word && Number(word) <= HIGHEST_LABEL) return false;
  const shortened = SHORT.has(lower) || DOTTED.test(word) || (/^\p{Lu}$/u.test(word) && word !== 'I');
  return !shortened || beginsSentence(after);
}

/**
 * The place behind the first sentence of a text, its closing marks and quotes included; null where the text does not end one.
 *
 * A full stop ends a sentence where white space or nothing follows, and the word before it is no title ("Dr."), initial
 * ("J. Moreau"), abbreviation ("e.g.") or label of a list ("1."); `! ? 。！？` end one always, and so does the end of a line
 * that has words and does not end in a colon or a comma. Numbers ("3.5") and times ("16.30") go on.
 * @param complete nothing follows: a full stop that is the last character is the end
 */
export function sentenceEnd(text: string, complete = true): number | null {
  for (const match of text.matchAll(MARK)) {
    const [mark] = match;
    const before = text.slice(0, match.index);
    const end = match.index + mark.length;
    const after = text.slice(end);
    if (!/[\p{L}\p{N}]/u.test(before)) continue;
    if (mark.startsWith('\n')) {
      if (!/[:,：，、]\s*$/u.test(before)) return match.index;
    } else if (/^[。！？]/u.test(mark)) return end;
    else if (after === '' && !complete) return null;
    else if (after !== '' && !/^\s/u.test(after)) continue;
    else if (!mark.startsWith('.') || stops(before, after)) return end;
  }
  return null;
}

/** The first sentences of a text, one where not said; all of it where it has no more. */
export function firstSentence(text: string, sentences = 1): string {
  let end = 0;
  for (let count = 0; count < sentences; count++) {
    const length = sentenceEnd(text.slice(end));
    if (length === null) return text.trim();
    end += length;
  }
  return text.slice(0, end).trim();
}

/** The number of sentences; a text without an end is one. */
export function countSentences(text: string): number {
  let count = 0;
  for (let rest = text.trim(); rest !== '';) {
    const end = sentenceEnd(rest);
    if (!/[\p{L}\p{N}]/u.test(rest)) break;
    count++;
    if (end === null) break;
    rest = rest.slice(end).trim();
  }
  return Math.max(1, count);
}
