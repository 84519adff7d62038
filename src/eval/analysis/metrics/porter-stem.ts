/**
 * Stems of English words by Porter's algorithm with the extensions of NLTK's `PorterStemmer`, since scores that are
 * published with that stemmer are computed with these stems. Libraries of the plain algorithm give other stems for one
 * word in fifty ("always", "age", "dies").
 * @see Porter 1980, "An algorithm for suffix stripping", Program 14(3); https://www.nltk.org/api/nltk.stem.porter.html
 */

/** Words that no rule gets right. */
const IRREGULAR = new Map([
  ...'sky news howe inning outing canning proceed exceed succeed'.split(' ').map((word) => [word, word] as const),
  ...['inning', 'outing', 'canning'].map((word) => [`${word}s`, word] as const),
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
]);

/** `c` for each consonant and `v` for each vowel; y is a vowel behind a consonant. */
function letters(word: string): string {
  const isVowel = (letter: string, kinds: string) =>
    'aeiou'.includes(letter) || (letter === 'y' && kinds.endsWith('c'));
  return [...word].reduce((kinds, letter) => kinds + (isVowel(letter, kinds) ? 'v' : 'c'), '');
}

/** Porter's m: how often consonants follow vowels. */
function measure(stem: string): number {
  return letters(stem).match(/v+c/g)?.length ?? 0;
}

/** Porter's *o: ends like "hop" or "wil"; NLTK also counts two letters such as "at". */
function endsShort(stem: string): boolean {
  const kinds = letters(stem);
  return (kinds.endsWith('cvc') && !/[wxy]$/.test(stem)) || kinds === 'vc';
}

type Rule = readonly [suffix: string, replacement: string, fits?: (stem: string, word: string) => boolean];

/** Applies the first rule with a matching suffix if the stem fits its condition; otherwise returns the word. */
function applyRules(word: string, list: readonly Rule[]): string {
  const rule = list.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const [suffix, replacement, fits] = rule;
  const stem = word.slice(0, word.length - suffix.length);
  return fits === undefined || fits(stem, word) ? stem + replacement : word;
}

/** Rules with one condition, from `suffix>replacement` pairs. */
function rules(pairs: string, fits: Rule[2]): Rule[] {
  return pairs.split(' ').map((pair) => {
    const [suffix = '', replacement = ''] = pair.split('>');
    return [suffix, replacement, fits] as Rule;
  });
}

const positive = (stem: string): boolean => measure(stem) > 0;
const long = (stem: string): boolean => measure(stem) > 1;

const plurals = rules('sses>ss ies>i ss>ss s', undefined);

/** Restores the ending of a stem without "ed" or "ing": hop(p)ing, fil(e)ing. */
function restoreEnding(stem: string): string {
  const doubled = /(.)\1$/.test(stem) && letters(stem).endsWith('c');
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (doubled) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function withoutTense(word: string): string {
  if (word.endsWith('ied')) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith('eed')) return positive(word.slice(0, -3)) ? word.slice(0, -1) : word;
  for (const suffix of ['ed', 'ing']) {
    const stem = word.slice(0, -suffix.length);
    if (word.endsWith(suffix) && letters(stem).includes('v')) return restoreEnding(stem);
  }
  return word;
}

const finalY: readonly Rule[] = [['y', 'i', (stem) => stem.length > 1 && letters(stem).endsWith('c')]];

const doubleSuffixes: readonly Rule[] = [
  ...rules('ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous', positive),
  ...rules('ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al', positive),
  ...rules('iviti>ive biliti>ble fulli>ful', positive),
  ['logi', 'log', (_stem, word) => positive(word.slice(0, -3))],
];

function withoutDoubleSuffix(word: string): string {
  const twice = word.endsWith('alli') && positive(word.slice(0, -4));
  return twice ? withoutDoubleSuffix(word.slice(0, -2)) : applyRules(word, doubleSuffixes);
}

const laterSuffixes = rules('icate>ic ative alize>al iciti>ic ical>ic ful ness', positive);

const lastSuffixes: readonly Rule[] = [
  ...rules('al ance ence er ic able ible ant ement ment ent', long),
  ['ion', '', (stem) => long(stem) && /[st]$/.test(stem)],
  ...rules('ou ism ate iti ous ive ize', long),
];

const finalE: readonly Rule[] = [['e', '', (stem) => long(stem) || (measure(stem) === 1 && !endsShort(stem))]];
const finalLl: readonly Rule[] = [['ll', 'l', (_stem, word) => long(word.slice(0, -1))]];

export function porterStem(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  if (word.length <= 2) return word;
  const singular = word.length === 4 && word.endsWith('ies') ? word.slice(0, -1) : applyRules(word, plurals);
  const untensed = applyRules(withoutTense(singular), finalY);
  return [laterSuffixes, lastSuffixes, finalE, finalLl].reduce(applyRules, withoutDoubleSuffix(untensed));
}
