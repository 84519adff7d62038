import { BenchError, didYouMean } from '../../base/bench-error.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { promptTemplates } from '../../config/prompt-templates.ts';
import type { DatasetUser } from '../dataset.ts';
import { containsTokens } from '../normalise-text.ts';
import type { ContextWindow, DatasetGenerator } from './dataset-generator.ts';
import { fillTemplate } from './fill-template.ts';
import { datasetText, formatTime, ordinal } from './format-generated-records.ts';
import type { WrittenItem, WrittenMemory } from '../record-schemas.ts';

const words = (text: string): string[] => text.split(' ');
const adjectives = words(
  'amber ancient blunt bold brave brief bright broad calm clever cold crisp curly dark deep dusty early eager faint fast ' +
    'firm fresh gentle giant glad golden grand green grey happy heavy hollow honest humble idle kind large late light little ' +
    'lively lone loud lucky mellow mild narrow neat noble odd pale plain proud quick quiet rare red rich round royal rusty ' +
    'sharp shy silent silver slow small smooth soft solid steady stern swift tall thin tidy tiny vivid warm wide wild wise young',
);
const nouns = words(
  'anchor apple arrow badger barrel basket beacon bell bench bird boat bottle bridge brook broom bucket button cabin camel ' +
    'candle canyon carpet castle cedar chair chest clock cloud comet copper crane cup desk dock donkey door drum eagle ember ' +
    'engine falcon farm feather fence ferry field flag flute forest fountain fox garden gate glove goose harbour hammer hat ' +
    'hill horse house island ivy jacket kettle key kite ladder lake lamp lantern leaf lion maple marble market meadow mill ' +
    'mirror moon nest oak ocean otter owl paper path pearl pencil piano pillow pine plough pond rabbit raft river robin rope ' +
    'saddle sail scarf shell ship shoe spoon star stone stove table tent tiger tower train valley violin wagon wheel willow window',
);
const verbs = words('follows meets passes likes hides guards finds paints carries watches knows leaves');

interface Line {
  readonly content: string;
  readonly value?: string;
  readonly relation?: string;
  /** It is needed for the answer. */
  readonly isEvidence?: boolean;
}

interface Sample {
  readonly lines: readonly Line[];
  readonly query: string;
  readonly golds: readonly string[];
  /** All golds are asked for; otherwise each of them is an answer. */
  readonly asksAll: boolean;
  readonly answerPrefix?: string;
}

/** What a task can use; `length` is the largest number of tokens of its memory lines, labels included. */
interface TaskScope {
  readonly random: SeededRandom;
  readonly task: string;
  readonly length: number;
  readonly window: ContextWindow;
  readonly questions: readonly DatasetUser[];
}

async function countLines(lines: readonly Line[], { window }: TaskScope): Promise<number> {
  const { index } = promptTemplates.segments.memory;
  const texts = lines.map(({ content }, at) => fillTemplate(index, { i: String(at + 1), content }));
  return (await window.countTokens(texts)).reduce((sum, count) => sum + count, 0);
}

function tooShort({ task, length }: TaskScope): BenchError {
  const hint = 'give longer --lengths, or leave the task out with --tasks';
  return new BenchError('bad-option', `--lengths ${length}: too few tokens for task ${task}`, hint);
}

/** The largest number for which lines fit the length, by bisection. @throws BenchError `bad-option` if not even one does */
async function largest(scope: TaskScope, most: number, lines: (count: number) => readonly Line[]): Promise<number> {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await countLines(lines(middle), scope)) <= scope.length) low = middle;
    else high = middle - 1;
  }
  if (low === 0) throw tooShort(scope);
  return low;
}

/** Spreads needles, in their order, over as much of a haystack as fits the length. */
async function hide(scope: TaskScope, needles: readonly Line[], haystack: readonly Line[]): Promise<Line[]> {
  const { random } = scope;
  const places = needles.map(() => random.float()).sort((a, b) => a - b);
  const spread = (size: number): Line[] => {
    const hay = haystack.slice(0, size - 1);
    const at = places.map((place) => Math.floor(place * (hay.length + 1)));
    return [...hay.keys(), hay.length].flatMap((index) => [
      ...needles.filter((_, needle) => at[needle] === index),
      ...(index < hay.length ? [hay[index]!] : []),
    ]);
  };
  return spread(await largest(scope, haystack.length + 1, spread));
}

/** More sentences than fit a length: each has at least four tokens. */
function sentences({ random, length }: TaskScope): Line[] {
  const thing = (): string => `${random.pick(adjectives)} ${random.pick(nouns)}`;
  const count = Math.ceil(length / 4);
  return Array.from({ length: count }, () => ({ content: `The ${thing()} ${random.pick(verbs)} the ${thing()}.` }));
}

/** Different values, drawn one after the other. */
function distinct(count: number, draw: () => string): string[] {
  const drawn = new Set<string>();
  while (drawn.size < count) drawn.add(draw());
  return [...drawn];
}

const drawLetters = (random: SeededRandom, count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + random.int(0, 25))).join('');

const RELATION = 'magic number';
const listed = (names: readonly string[]): string => names.join(', ').replace(/, ([^,]+)$/, ' and $1');

interface NeedlePlan {
  readonly keys: number;
  readonly valuesEach: number;
  /** Keys that are asked for; the others are distractors. */
  readonly asked: number;
  /** The haystack itself consists of needles. */
  readonly isDense?: true;
}

function needleTask({ keys: count, valuesEach, asked, isDense }: NeedlePlan) {
  return async (scope: TaskScope): Promise<Sample> => {
    const { random, length } = scope;
    const hay = isDense ? Math.ceil(length / 6) : 0;
    const drawKey = (): string => `${random.pick(adjectives)}-${random.pick(nouns)}`;
    const keys = distinct(Math.min(count + hay, adjectives.length * nouns.length), drawKey);
    const values = distinct(keys.length * valuesEach, () => String(random.int(1_000_000, 9_999_999)));
    const lines = keys.flatMap((key, place) =>
      values.slice(place * valuesEach, (place + 1) * valuesEach).map((value) => {
        const content = `The magic number of ${key} is ${value}.`;
        return { content, value, relation: RELATION, isEvidence: place < asked };
      }),
    );
    const [needles, rest] = [lines.slice(0, count * valuesEach), lines.slice(count * valuesEach)];
    const names = listed(keys.slice(0, asked));
    const isOne = asked * valuesEach === 1;
    const numbers = isOne ? 'is the magic number' : 'are all the magic numbers';
    return {
      lines: await hide(scope, random.shuffled(needles), isDense ? rest : sentences(scope)),
      query: `What ${numbers} of ${names}?`,
      golds: values.slice(0, asked * valuesEach),
      asksAll: !isOne,
      answerPrefix: `The magic number${isOne ? '' : 's'} of ${names} ${isOne ? 'is' : 'are'}`,
    };
  };
}

const HOPS = 4;

/** A chain of variables: the first is a number, each other is the one before it. */
async function trackVariables(scope: TaskScope): Promise<Sample> {
  const { random } = scope;
  const names = distinct(HOPS + 1, () => drawLetters(random, 5).toUpperCase());
  const value = String(random.int(10_000, 99_999));
  const chain = names.map((name, place) => {
    const content =
      place === 0 ? `Variable ${name} is ${value}.` : `Variable ${name} is variable ${names[place - 1]!}.`;
    return { content, isEvidence: true };
  });
  return {
    lines: await hide(scope, chain, sentences(scope)),
    query: `Which variables have the value ${value}? Name all of them.`,
    golds: names,
    asksAll: true,
    answerPrefix: 'The variables are',
  };
}

const WORDS_A_LINE = 10;

/** Repeats each word as often as `count` says, shuffled, ten to a line. */
function wordLines(names: readonly string[], count: (place: number) => number, seed: number): Line[] {
  const repeats = names.flatMap((name, place) => new Array<string>(count(place)).fill(name));
  const all = new SeededRandom(seed).shuffled(repeats);
  return Array.from({ length: Math.ceil(all.length / WORDS_A_LINE) }, (_, line) => ({
    content: all.slice(line * WORDS_A_LINE, (line + 1) * WORDS_A_LINE).join(' '),
    isEvidence: true,
  }));
}

function wordSample(most: 'common' | 'frequent', golds: readonly string[], lines: readonly Line[]): Sample {
  const query = `Which ${golds.length} words are the most ${most} in these lists?`;
  return { lines, query, golds, asksAll: true, answerPrefix: 'The words are' };
}

const COMMON = 10;
/** From this length on, common and other words are repeated more often. */
const LONG = 4096;

async function findCommonWords(scope: TaskScope): Promise<Sample> {
  const { random, length } = scope;
  const [often, seldom] = length < LONG ? [6, 1] : [30, 3];
  const most = Math.min(Math.ceil(length / seldom), (nouns.length - 1) ** 2);
  const names = distinct(COMMON + most, () => random.pick(nouns) + random.pick(nouns));
  const seed = random.bits();
  const lines = (others: number): Line[] =>
    wordLines(names.slice(0, COMMON + others), (place) => (place < COMMON ? often : seldom), seed);
  return wordSample('common', names.slice(0, COMMON), lines(await largest(scope, most, lines)));
}

const FREQUENT = 3;
/** From 18 repetitions of the first word on, the third is more frequent than the fourth. */
const LEAST_FIRST = 17;

/** Counts of words by rank fall with the square of the rank (zeta distribution with α = 2). */
async function findFrequentWords(scope: TaskScope): Promise<Sample> {
  const { random, length } = scope;
  const names = distinct(Math.ceil(Math.sqrt(length)) + FREQUENT, () => drawLetters(random, 6));
  const seed = random.bits();
  const lines = (first: number): Line[] =>
    wordLines(names, (place) => Math.floor((LEAST_FIRST + first) / (place + 1) ** 2), seed);
  return wordSample('frequent', names.slice(0, FREQUENT), lines(await largest(scope, length, lines)));
}

/** A question of the given data set, with its evidence hidden among passages of other users that do not answer it. */
async function askAmongPassages(scope: TaskScope): Promise<Sample> {
  const { random, questions: users, length } = scope;
  const asked = users.flatMap(({ userId, items, memories }) =>
    items.flatMap(({ query, answer, acceptedAnswers, evidence, history, conversation }) => {
      if (answer === null || evidence.length === 0 || history.length > 0 || conversation !== undefined) return [];
      const needles = memories
        .filter(({ memoryId }) => evidence.includes(memoryId))
        .map(({ content }) => ({ content, isEvidence: true }));
      return [{ userId, query, golds: [answer, ...acceptedAnswers], needles }];
    }),
  );
  if (asked.length === 0) throw noQuestions('no question that memories alone answer');
  const drawn = await firstFitting(scope, random.inRandomOrder(asked));
  const others = users.filter(({ userId }) => userId !== drawn.userId).flatMap(({ memories }) => memories);
  const answers = (content: string): boolean => drawn.golds.some((gold) => containsTokens(content, gold, 'en'));
  const passages = [...random.inRandomOrder(others)].filter(({ content }) => !answers(content));
  const haystack = passages.slice(0, length).map(({ content }) => ({ content }));
  return { lines: await hide(scope, drawn.needles, haystack), query: drawn.query, golds: drawn.golds, asksAll: false };
}

/** @throws BenchError `bad-option` if the evidence of every question is longer than the memories may be */
async function firstFitting<T extends { readonly needles: readonly Line[] }>(
  scope: TaskScope,
  questions: Iterable<T>,
): Promise<T> {
  for (const question of questions) {
    if ((await countLines(question.needles, scope)) <= scope.length) return question;
  }
  throw tooShort(scope);
}

function noQuestions(why: string): BenchError {
  return new BenchError('bad-option', `--tasks ${QA}: ${why}`, 'name a data set with evidence: --dataset FILE');
}

const QA = 'qa';
const tasks: Readonly<Record<string, (scope: TaskScope) => Promise<Sample>>> = {
  single: needleTask({ keys: 1, valuesEach: 1, asked: 1 }),
  'multi-key': needleTask({ keys: 4, valuesEach: 1, asked: 1 }),
  'multi-key-dense': needleTask({ keys: 1, valuesEach: 1, asked: 1, isDense: true }),
  'multi-value': needleTask({ keys: 1, valuesEach: 4, asked: 1 }),
  'multi-query': needleTask({ keys: 4, valuesEach: 1, asked: 4 }),
  'variable-tracking': trackVariables,
  'common-words': findCommonWords,
  'frequent-words': findFrequentWords,
  [QA]: askAmongPassages,
};

export const rulerTasks = Object.keys(tasks);

/** @throws BenchError `bad-option` for an unknown task, a length beyond the window, and `qa` without questions */
function requireFitting(
  names: readonly string[],
  lengths: readonly number[],
  window: ContextWindow,
  hasQuestions: boolean,
) {
  const unknown = names.find((name) => !Object.hasOwn(tasks, name));
  if (unknown !== undefined) {
    const message = `--tasks: unknown task "${unknown}"${didYouMean(unknown, rulerTasks)}`;
    throw new BenchError('bad-option', message, `tasks: ${rulerTasks.join(', ')}`);
  }
  const long = lengths.find((length) => length > window.contextTokens);
  if (long !== undefined) {
    const message = `--lengths ${long}: the window of the model has ${window.contextTokens} tokens`;
    throw new BenchError('bad-option', message, 'give shorter lengths, another --model, or --context-tokens');
  }
  if (!names.includes(QA) || hasQuestions) return;
  throw noQuestions('no questions');
}

const FIRST_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

function records(userId: string, sample: Sample, place: Pick<WrittenItem, 'category' | 'condition'>) {
  const { lines, query, golds, asksAll, answerPrefix } = sample;
  const memories = lines.map(({ isEvidence: _, ...line }, index): WrittenMemory => ({
    type: 'memory',
    userId,
    memoryId: `${userId}-m${ordinal(index, 4)}`,
    ...line,
    createdAt: formatTime(FIRST_MS + index * MINUTE_MS),
  }));
  const item: WrittenItem = {
    type: 'item',
    itemId: `${userId}-q`,
    userId,
    query,
    answer: asksAll ? golds.join(', ') : golds[0]!,
    ...(asksAll ? { nuggets: [...golds] } : { acceptedAnswers: golds.slice(1) }),
    answerPrefix,
    evidence: memories.flatMap(({ memoryId }, at) => (lines[at]!.isEvidence === true ? memoryId : [])),
    ...place,
    askedAt: formatTime(FIRST_MS + (lines.length + 1) * MINUTE_MS),
  };
  return [...memories, item];
}

const DEFAULT_LENGTH = 512;

/**
 * Tasks in the manner of RULER, by length of the memories in tokens of the model: one user, with one question, for each sample.
 * @see Hsieh et al. 2024, "RULER: What's the Real Context Size of Your Long-Context Language Models?", arXiv 2404.06654
 */
export const rulerData: DatasetGenerator = {
  name: 'ruler',
  suites: [],
  language: 'en',
  presetUsers: 10,
  make: async (seed, users, window, { lengths, tasks: named, questions } = {}) => {
    const hasQuestions = questions !== undefined;
    const chosen = named ?? rulerTasks.filter((name) => name !== QA || hasQuestions);
    const tokens = lengths ?? [Math.min(DEFAULT_LENGTH, window.contextTokens)];
    requireFitting(chosen, tokens, window, hasQuestions);
    const random = new SeededRandom(seed);
    const passages = questions?.flatMap((dataset) => dataset.users) ?? [];
    const lines = [];
    for (const length of tokens) {
      for (const task of chosen) {
        for (let index = 0; index < users; index++) {
          const sample = await tasks[task]!({ random, task, length, window, questions: passages });
          lines.push(...records(`${task}-${length}-${ordinal(index)}`, sample, { category: task, condition: length }));
        }
      }
    }
    const isWithheld = questions?.some(({ declared }) => declared.texts === 'withheld') ?? false;
    const header = { name: 'ruler', language: 'en', version: 1, seed, primaryMetric: 'memoryRecall' } as const;
    return datasetText({ ...header, ...(isWithheld ? { texts: 'withheld' } : {}) }, lines);
  },
};
