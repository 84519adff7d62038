import { languageOf } from '../../../base/language.ts';

/** Function words and words of asking. */
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
const functionPhrases = [
  ...[
    '记不记得',
    '还记得',
    '告诉我',
    '什么地方',
    '为什么',
    '什么时候',
    '怎么样',
    '哪一门',
    '你记得',
    '最近',
    '昨天',
    '请问',
  ],
  ...['什么', '哪里', '哪个', '哪家', '哪种', '哪道', '哪位', '多少', '怎么', '名字', '一下', '记得', '说过', '是谁'],
  ...['的', '了', '吗', '呢', '是', '在', '叫', '谁', '哪', '我', '你', '把', '对', '给', '那', '这'],
];
const words = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*/gu;

/** Extracts the content words of a question, each once, in lower case and in order. */
export function keywordsOf(question: string): string[] {
  const found = new Set<string>();
  for (const [word] of question.normalize('NFKC').toLowerCase().matchAll(words)) {
    if (languageOf(word) === 'zh') for (const part of chineseParts(word)) found.add(part);
    else {
      const bare = word.replace(/['’]s$/, '');
      if (!functionWords.has(bare.replaceAll(/['’]/g, ''))) found.add(bare);
    }
  }
  return [...found];
}

function chineseParts(run: string): string[] {
  const parts = functionPhrases.reduce((list, phrase) => list.flatMap((part) => part.split(phrase)), [run]);
  return parts.filter((part) => part !== '');
}
