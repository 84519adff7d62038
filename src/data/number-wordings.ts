import type { KnownLanguage } from '../base/language.ts';
import { months } from './convert/dates.ts';

type Rewriting = readonly [pattern: RegExp, form: string | ((whole: string, ...groups: string[]) => string)];

const ONES = 'one two three four five six seven eight nine'.split(' ');
const TEENS = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** "one" alone is a pronoun more often than a number. Hundreds stay words. */
const englishNumber = new RegExp(
  `(?<!\\p{L}|\\p{L}-|(?:hundred|thousand)(?: and)? )(?:(${TENS.join('|')})(?:[- ](${ONES.join('|')}))?(?!-\\p{L})|${[...ONES.slice(1), ...TEENS].join('|')})(?!\\p{L}| (?:hundred|thousand|million))`,
  'gu',
);

function fromEnglish(whole: string, tens?: string, ones = ''): string {
  const number =
    tens === undefined ? [...ONES, ...TEENS].indexOf(whole) : 10 * (TENS.indexOf(tens) + 2) + ONES.indexOf(ones);
  return String(number + 1);
}

const HAN_DIGITS = '零一二三四五六七八九';
const HAN_NUMERAL = '[零〇一二两兩三四五六七八九十百千]';

function fromHan(numeral: string): string {
  const powers: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000 };
  let [sum, digits] = [0, ''];
  for (const character of numeral.replaceAll(/[两兩]/gu, '二').replaceAll('〇', '零')) {
    const power = powers[character];
    if (power === undefined) digits += String(HAN_DIGITS.indexOf(character));
    else [sum, digits] = [sum + Number(digits === '' ? 1 : digits) * power, ''];
  }
  return String(sum + Number(digits));
}

const isoDate = /(?<![\p{N}-])(\d{4})-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])(?![\p{N}-])/gu;

const anyLanguage: readonly Rewriting[] = [
  [/(?<![\p{N}:.,-])0(?=\d:\d\d(?!\d))/gu, ''],
  [/(?<!\p{L})(?:usd|us\$)(?= ?\d)|(?<=\p{N} )dollars?(?!\p{L})|(?<=\d ?)usd(?!\p{L})/gu, '$'],
  [/(?<!\p{L})eur(?= ?\d)|(?<=\p{N} )euros?(?!\p{L})|(?<=\d ?)eur(?!\p{L})/gu, '€'],
  [/(?<!\p{L})gbp(?= ?\d)|(?<=\d ?)gbp(?!\p{L})/gu, '£'],
  [/(?<=\p{N} )(?:percent|per cent)(?!\p{L})/gu, '%'],
  [/(?<=\p{N} )degrees? ([cf])(?:elsius|ahrenheit)(?!\p{L})/gu, '°$1'],
  [/(?<=\p{N} )degrees?(?!\p{L})/gu, '°'],
];

/** Version of the rules for splitting texts into words; `MetricsVersion` says what differs. */
export type WordsVersion = 2 | 3;
export const wordsVersion: WordsVersion = 3;

const rewritings = (version: WordsVersion): Readonly<Record<KnownLanguage, readonly Rewriting[]>> => ({
  en: [
    // "U.S." is "us", "p.m." is "pm".
    [/(?<![\p{L}\p{N}.])(?:\p{L}\.)+\p{L}(?:\.|(?![\p{L}\p{N}]))/gu, (initials) => initials.replaceAll('.', '')],
    [englishNumber, fromEnglish],
    [/(?<![\p{L}\p{N}])(\d+)(?:st|nd|rd|th)(?![\p{L}\p{N}])/gu, '$1'],
    [isoDate, (_, year, month, day) => `${months[Number(month) - 1]!} ${Number(day)}, ${year}`],
    [new RegExp(`(?<!\\p{N})(\\d{1,2}) (?:of )?(${months.join('|')})(?!\\p{L})`, 'gu'), '$2 $1'],
    [/(?<=(?<![\p{L}\p{N}:])\d[\d.,]*)(?=(?:[kcm]?m|[km]?g|ml|lbs?|oz|min|h|[ap]m)(?![\p{L}\p{N}]))/gu, ' '],
    ...(version === 2 ? [] : [[/(?<=\d:\d\d)(?=[ap]m(?![\p{L}\p{N}]))/gu, ' '] as const]),
    [/(?<=\p{N} )(k|c)(?:ilo|enti)met(?:er|re)s?(?!\p{L})/gu, '$1m'],
    [/(?<=\p{N} )(?:kilograms?|kilos?)(?!\p{L})/gu, 'kg'],
  ],
  zh: [
    [/(?:星期|礼拜)(?=[一二三四五六日天])/gu, '周'],
    [new RegExp(`百分之(${HAN_NUMERAL}+|\\d[\\d.]*)`, 'gu'), (_, n) => `${/\d/u.test(n) ? n : fromHan(n)}%`],
    [
      // Numbers before a measure word; 一个 and 一点 are seldom counts. Version 2 took no 一 for a number.
      new RegExp(
        `(?<!${HAN_NUMERAL}|周|\\d)(?!一${version === 2 ? `(?!${HAN_NUMERAL})` : '[个個点點]'})${HAN_NUMERAL}+(?=[个個只隻条條张張本台辆輛件位人岁歲年月日号號天周次点點分秒小块塊元角公厘米斤克度杯瓶套间間层層楼樓倍名口双雙份首座棵朵匹篇遍万])`,
        'gu',
      ),
      fromHan,
    ],
    [/(\d+(?:\.\d+)?) ?万/gu, (_, number) => String(Math.round(Number(number) * 10_000))],
    [isoDate, (_, year, month, day) => `${year}年${Number(month)}月${Number(day)}日`],
    [/(?<=月\d{1,2})[号號]/gu, '日'],
    [/(?<=\d ?)(?:公里|千米|km)/gu, 'km'],
    [/(?<=\d ?)(?:公斤|千克|kg)/gu, 'kg'],
    [/(?<=\d ?)(?:块钱?|塊錢?|人民币)/gu, '元'],
    [/¥ ?(\d[\d.,]*(?<=\d))/gu, '$1元'],
    // A Han character and a unit in letters are words apart.
    [/(?<=\d)(?=[kc]?m(?!\p{L})|kg)/gu, ' '],
  ],
});

const byVersion = { 2: rewritings(2), 3: rewritings(3) };

/**
 * Writes numbers, dates and units of a lower-case text in one form: "twenty-five" and 二十五岁 in digits, "12 May" as "may 12",
 * "5km" and "5 kilometres" as "5 km", "07:30" as "7:30".
 */
export function unifyNumbers(text: string, language: KnownLanguage | undefined, version: WordsVersion): string {
  const all = [...(language === undefined ? [] : byVersion[version][language]), ...anyLanguage];
  return all.reduce((form, [pattern, into]) => {
    return typeof into === 'string' ? form.replaceAll(pattern, into) : form.replaceAll(pattern, into);
  }, text);
}
