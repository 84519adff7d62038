import { detectLanguage } from '../../../base/language.ts';

// Rules that find the keywords of a question, rephrase it and split it, in English and Chinese.

export const MAX_PARTS = 5;

/** Words without content in a question. */
const functionWords = new Set(
  (
    'a about again all am an and any are as at be been being but by called can come comes could did do does for from ' +
    'had has have he her his how i if in into is it its just know last let like look me mention mentioned my name no ' +
    'not now of on or our please recall recently remember remind s say she so still tell that the their them there ' +
    'they this to told up us was we went were what whats when where which who whom whose why will with would yesterday ' +
    'you your today t re ve ll d m forgot'
  ).split(' '),
);
/** The same in Chinese, longer phrases first. */
const functionPhrases = (
  '记不记得 还记得 告诉我 什么地方 为什么 什么时候 怎么样 哪一门 你记得 最近 昨天 请问 什么 哪里 哪个 哪家 哪种 哪道 哪位 多少 怎么 名字 ' +
  '一下 记得 说过 是谁 的 了 吗 呢 是 在 叫 谁 哪 我 你 把 对 给 那 这'
).split(' ');
const words = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*/gu;

/** Groups of words with one meaning. */
const synonyms: readonly (readonly string[])[] = [
  ['dog', 'puppy', '狗', '小狗'],
  ['cat', 'kitten', '猫', '猫咪'],
  ['boss', 'manager', '老板', '上司'],
  ['job', 'profession', 'work', '工作'],
  ['company', 'employer', '公司', '雇主'],
  ['home', 'house', 'live', '家', '住'],
  ['partner', 'wife', 'husband', 'married'],
  ['holiday', 'vacation', 'trip', 'travel', '旅行', '度假'],
  ['favourite', 'favorite', 'love', 'prefer', '喜欢', '爱'],
  ['colour', 'color', '颜色'],
  ['doctor', 'physician', '医生', '大夫'],
  ['birthday', 'born', '出生'],
  ['car', 'vehicle', 'drive', '车', '汽车'],
  ['phone', 'mobile', '手机', '电话'],
  ['drink', 'beverage', '喝', '饮料'],
  ['food', 'dish', 'eat', '吃', '菜'],
  ['friend', '朋友'],
  ['mountain', '山', '爬山'],
];

const contractions: Readonly<Record<string, string>> = {
  "what's": 'what is',
  "where's": 'where is',
  "who's": 'who is',
  "when's": 'when is',
  "i'm": 'I am',
  "don't": 'do not',
};
const contraction = new RegExp(`(?<!\\p{L})(?:${Object.keys(contractions).join('|')})(?!\\p{L})`, 'giu');

/** Polite introductions, longer ones first; the question follows them. */
const leads = (
  'could you please tell me|can you please tell me|could you tell me|can you tell me|please remind me of|' +
  'please remind me|remind me of|remind me|could you look up|can you look up|do you still remember|' +
  'do you remember|do you recall|can you recall|please tell me|tell me|i forgot|please|' +
  '你还记得|你记得|请问|请告诉我|告诉我|我忘了'
).split('|');

/** Ends of sentences, and words that begin another question. */
const boundary = /(?<=[?？!！;；。])|,? and (?=(?:what|where|who|when|which|how) )|，(?:还有|另外|以及|并且)/i;

/** Extracts the content words of a question, each once, in lower case and in order. */
export function extractKeywords(question: string): string[] {
  const found = new Set<string>();
  for (const [word] of question.normalize('NFKC').toLowerCase().matchAll(words)) {
    if (detectLanguage(word) === 'zh') {
      const parts = functionPhrases.reduce((list, phrase) => list.flatMap((part) => part.split(phrase)), [word]);
      for (const part of parts) if (part !== '') found.add(part);
    } else {
      const bare = word.replace(/['’]s$/, '');
      if (!functionWords.has(bare.replaceAll(/['’]/g, ''))) found.add(bare);
    }
  }
  return [...found];
}

/** Reduces a question to its first content words; a question without any stays as it is. */
export function shortenQuestion(question: string, most: number): string {
  return extractKeywords(question).slice(0, most).join(' ') || question;
}

/** Appends synonyms of the question's content words. */
export function expandQuestion(question: string): string {
  const keywords = extractKeywords(question);
  const others = keywords.flatMap((word) => synonyms.filter((group) => group.includes(word)).flat());
  const added = [...new Set(others)].filter((word) => !keywords.includes(word));
  return [question, ...added].join(' ');
}

/** True if the end of `lead` lies within a Latin word, as in "Tell Melissa". */
function cutsWord(lead: string, rest: string): boolean {
  return /^\p{Script=Latin}{2}/u.test(lead.slice(-1) + rest);
}

/** Rewrites a question by rules: contractions expanded, polite introductions removed. */
export function rewriteQuestion(question: string): string {
  let text = question.replaceAll('’', "'").replace(contraction, (found) => contractions[found.toLowerCase()] ?? found);
  for (;;) {
    const lower = text.toLowerCase();
    const lead = leads.find((each) => {
      const rest = text.slice(each.length);
      return lower.startsWith(each) && !cutsWord(each, rest) && extractKeywords(rest).length > 0;
    });
    if (lead === undefined) return text;
    text = text.slice(lead.length).replace(/^[\s,:，：?？]+/u, '');
  }
}

/**
 * Splits a compound question by rules into at most five parts, at ends of sentences and beginnings of other questions. Parts
 * without keywords ("do you remember?") are left out. A simple question stays in one part.
 */
export function decomposeQuestion(question: string): string[] {
  const parts = question.split(boundary).map((part) => part.trim());
  const kept = parts.filter((part) => extractKeywords(part).length > 0);
  return kept.length === 0 ? [question] : kept.slice(0, MAX_PARTS);
}
