import { keywordsOf } from './keywords.ts';

/** Ways to rephrase a question for retrieval. */
export const optimizeTypes = ['keyword_extract', 'expand', 'rewrite', 'instruction'] as const;

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

const contractions: readonly (readonly [string, string])[] = [
  ["what's", 'what is'],
  ["where's", 'where is'],
  ["who's", 'who is'],
  ["when's", 'when is'],
  ["i'm", 'I am'],
  ["don't", 'do not'],
];

/** Polite introductions, longer ones first; the question follows them. */
const leads: readonly string[] = [
  ...[
    'could you please tell me',
    'can you please tell me',
    'could you tell me',
    'can you tell me',
    'please remind me of',
  ],
  ...['please remind me', 'remind me of', 'remind me', 'could you look up', 'can you look up', 'do you still remember'],
  ...['do you remember', 'do you recall', 'can you recall', 'please tell me', 'tell me', 'i forgot', 'please'],
  ...['你还记得', '你记得', '请问', '请告诉我', '告诉我', '我忘了'],
];

/** Reduces a question to its first content words; a question without any stays as it is. */
export function extractKeywords(question: string, most: number): string {
  const keywords = keywordsOf(question).slice(0, most);
  return keywords.length === 0 ? question : keywords.join(' ');
}

/** Appends synonyms of the question's content words. */
export function expandQuestion(question: string): string {
  const keywords = keywordsOf(question);
  const known = new Set(keywords);
  const others = keywords.flatMap((word) => synonyms.filter((group) => group.includes(word)).flat());
  const added = [...new Set(others)].filter((word) => !known.has(word));
  return added.length === 0 ? question : `${question} ${added.join(' ')}`;
}

/** Rewrites a question by rules: contractions expanded, polite introductions removed. */
export function rewriteQuestion(question: string): string {
  let text = question.replaceAll('’', "'");
  for (const [short, long] of contractions) text = replaceWord(text, short, long);
  for (;;) {
    const lower = text.toLowerCase();
    const lead = leads.find((each) => lower.startsWith(each) && keywordsOf(text.slice(each.length)).length > 0);
    if (lead === undefined) break;
    text = text.slice(lead.length).replace(/^[\s,:，：?？]+/u, '');
  }
  return text;
}

/** Prefixes a question with the instruction that an embedder was trained with. */
export function instructQuestion(question: string, instruction: string): string {
  return `${instruction}${question}`;
}

/** Replaces a whole word in any case. */
function replaceWord(text: string, word: string, by: string): string {
  const lower = text.toLowerCase();
  // Offsets do not match if lower case has another length.
  if (lower.length !== text.length) return text;
  let written = '';
  let from = 0;
  for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + word.length)) {
    const end = at + word.length;
    if (isLetter(lower[at - 1]) || isLetter(lower[end])) continue;
    written += text.slice(from, at) + by;
    from = end;
  }
  return written + text.slice(from);
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /\p{L}/u.test(character);
}
