import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { WrittenItem, WrittenMemory, WrittenRecord } from '../../../src/data/record-schemas.ts';
import { formatTime, ordinal } from '../../../src/data/generators/format-generated-records.ts';
import { factGrammars, type FactLanguage } from './fact-grammar.ts';
import { QuestionWriter, type WordedQuestion } from './fact-items.ts';
import { evenValues, factValues, type Split, valuesOf } from './fact-values.ts';
import { UserNotes, type Note } from './user-notes.ts';
import { topicWheels, UserPlanner, type Extra, type UserShape } from './user-plan.ts';

/** Memories of the smallest and the largest user. */
const SIZES = { 1: { least: 10, most: 400 }, 2: { least: 60, most: 300 } } as const;
/** Users up to this size count as `recurring`: about half of them. */
const RECURRING_SIZE = 24;
/** Shares of the category that a user is asked twice. */
const TWO_MEMORIES_BELOW = 0.3;
const ABSENT_BELOW = 0.5;
const DAY_MS = 86_400_000;
const FIRST_MEMORY_MS = Date.UTC(2025, 2, 1, 8);
const MEMORY_DAYS = 420;
const FIRST_QUESTION_MS = Date.UTC(2026, 4, 4, 9);
const BETWEEN_QUESTIONS_MS = 37 * 60_000;
/** Do KV blocks protect from a superseded memory that stands beside, and lose what has to be combined? */
const plannedContrast = {
  arm: 'dki-blocks',
  reference: 'rag',
  categories: ['updated', 'two memories'] as [string, string],
  metric: 'contains',
  discordance: 0.3,
};
/** Sets the draws of development users apart from those of test users with the same seed. */
const DEVELOPMENT_SEED = 1_000_003;
const idPrefixes = { en: { test: 'fe', development: 'fed' }, zh: { test: 'fz', development: 'fzd' } } as const;

/** The sizes of users, many small and few large: log-spread, denser at the small end. */
function shapes(random: SeededRandom, count: number, edition: Edition): UserShape[] {
  const { least, most } = SIZES[edition];
  const extras = Array.from({ length: count }, (_, rank): Extra => {
    const share = rank / count;
    return share < TWO_MEMORIES_BELOW ? 'two memories' : share < ABSENT_BELOW ? 'absent' : 'updated';
  });
  return random.shuffled(extras).map((extra, rank) => {
    const place = count === 1 ? 0 : rank / (count - 1);
    return { size: Math.round(least * (most / least) ** (place * place)), extra };
  });
}

/** Names by order of time. */
function namedNotes(userId: string, notes: readonly Note[]): ReadonlyMap<Note, string> {
  const sorted = [...notes].sort((a, b) => a.at - b.at || Number(a.replaces === b) - Number(b.replaces === a));
  return new Map(sorted.map((note, index) => [note, `${userId}-m${ordinal(index, 3)}`]));
}

function memories(random: SeededRandom, userId: string, ids: ReadonlyMap<Note, string>): WrittenMemory[] {
  return Array.from(ids, ([{ content, value, fact, replaces }, memoryId], index) => {
    const day = ((index + 0.1 + 0.8 * random.float()) * MEMORY_DAYS) / ids.size;
    return {
      type: 'memory',
      userId,
      memoryId,
      content,
      createdAt: formatTime(FIRST_MEMORY_MS + day * DAY_MS),
      value: value.text,
      relation: fact.relation,
      ...(replaces === undefined ? {} : { supersedes: ids.get(replaces)! }),
    };
  });
}

function item(
  userId: string,
  { query, gold, answerPrefix, evidence, category, fact, note, history }: WordedQuestion,
  index: number,
  ids: ReadonlyMap<Note, string>,
): WrittenItem {
  const old = note?.replaces?.value;
  return {
    type: 'item',
    itemId: `${userId}-q${ordinal(index)}`,
    userId,
    query,
    answer: gold?.text ?? null,
    ...(gold === undefined || gold.accepted.length === 0 ? {} : { acceptedAnswers: [...gold.accepted] }),
    evidence: evidence.map((one) => ids.get(one)!),
    ...(old === undefined ? {} : { superseded: [old.text, ...old.accepted] }),
    category,
    relation: fact.relation,
    ...(answerPrefix === undefined ? {} : { answerPrefix }),
    askedAt: formatTime(FIRST_QUESTION_MS + index * BETWEEN_QUESTIONS_MS),
    ...(history.length === 0 ? {} : { history: [...history] }),
  };
}

function drawUsers(random: SeededRandom, { language, split, edition }: FactsSource, count: number) {
  const grammar = factGrammars[language];
  const lists = Object.entries(factValues(grammar)).map(([kind, all]) => [kind, valuesOf(all, split)] as const);
  const drawValue = evenValues(random, Object.fromEntries(lists));
  const wheels = topicWheels(random, grammar);
  const prefix = `${idPrefixes[language][split]}${edition === 1 ? '' : 'h'}`;
  return random.shuffled(shapes(random, count, edition)).map((shape, index) => {
    const userId = `${prefix}${ordinal(index)}`;
    const notes = new UserNotes(random, grammar, drawValue);
    const planner = new UserPlanner(random, notes, wheels);
    const planned = edition === 1 ? planner.plan(shape) : planner.planHarder(shape.size, index);
    const writer = new QuestionWriter(random, notes);
    const questions = planned.map((question) => writer.write(question));
    const ids = namedNotes(userId, notes.notes);
    const items = questions.map((question, place) => item(userId, question, place, ids));
    return { userId, size: shape.size, records: [...memories(random, userId, ids), ...items] };
  });
}

/** The first edition, or the harder one, in which each user is asked three questions of each category. */
export type Edition = keyof typeof SIZES;

interface FactsSource {
  readonly language: FactLanguage;
  readonly split: Split;
  readonly edition: Edition;
}

/** `facts-en`, `facts-en-dev`, `facts-en-2`, … */
export function factsName({ language, split, edition }: FactsSource): string {
  return `facts-${language}${edition === 1 ? '' : `-${edition}`}${split === 'test' ? '' : '-dev'}`;
}

/** Generates a data set as JSON Lines; the same seed and users give the same bytes. */
export function makeFactsDataset(source: FactsSource, seed: number, userCount: number): string {
  const { language, split, edition } = source;
  const grammar = factGrammars[language];
  const random = SeededRandom.ofPublished(split === 'test' ? seed : seed + DEVELOPMENT_SEED);
  const users = drawUsers(random, source, userCount);
  const kinds = users.map(({ userId, size }) => [userId, size <= RECURRING_SIZE ? 'recurring' : 'large'] as const);
  const header: WrittenRecord = {
    type: 'dataset',
    name: factsName(source),
    language,
    version: edition,
    seed,
    unknownAnswer: grammar.unknownAnswer,
    primaryMetric: 'contains',
    ...(edition === 2 && split === 'test' ? { plannedContrast } : {}),
    split,
    ...(grammar.note === undefined ? {} : { note: grammar.note }),
    userKinds: Object.fromEntries(kinds),
  };
  const records = [header, ...users.flatMap((user) => user.records)];
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
