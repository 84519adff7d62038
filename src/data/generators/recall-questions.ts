import type { Grammar } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { type EvaluationFact, FactBook, type FactCategory } from './fact-book.ts';
import { canChange, type Fact, type PhrasingSide, type Relation, type Subject, USER } from './facts-and-relations.ts';
import type { HistoryMessage } from '../record-schemas.ts';
import { exchange } from './format-generated-records.ts';
import { formatAnswer } from './fill-template.ts';
import { question } from './fact-wording.ts';

/** Numbers of questions to one user by kind; ten in all. */
interface QuestionPlan {
  readonly facts: Readonly<Record<FactCategory, number>>;
  /** Asked after unrelated turns, answered by a memory. */
  readonly afterOthers: number;
  /** Answered by what the user says in the conversation. */
  readonly told: number;
  /** Absent, but near to something stored. */
  readonly near: number;
  /** Absent, and like nothing stored. */
  readonly far: number;
}

interface UserPlan {
  readonly kind: 'recurring' | 'large';
  readonly book: FactBook;
  readonly questions: QuestionPlan;
}

const MIN_LARGE = 24;
const MAX_LARGE = 40;

function addPreferences(book: FactBook, ...categories: readonly FactCategory[]): Relation[] {
  return categories.map((category) => book.addPreference(category).relation);
}

/** Adds two or more facts of one subject, if possible with the same kind of value. */
function addNear(book: FactBook, subject: Subject, count: number): void {
  const { valueKind } = book.add(subject, book.drawFree(subject), 'distractor').relation;
  for (let added = 1; added < count; added++) {
    const relation = book.drawFree(subject, (other) => other.valueKind === valueKind);
    book.add(subject, relation, 'distractor');
  }
}

function addUpdate(book: FactBook): void {
  book.add(USER, book.drawFree(USER, canChange), 'update');
}

interface RecurringShape {
  readonly others: number;
  readonly add: (book: FactBook) => void;
  readonly questions: QuestionPlan;
}

/** Four or five memories, no more than a retrieval returns, so that retrieved sets repeat between questions. */
const RECURRING: readonly RecurringShape[] = [
  {
    others: 1,
    add: (book) => {
      const [first] = addPreferences(book, 'several', 'plain');
      book.add(book.others[0]!, first!, 'several');
      addUpdate(book);
    },
    questions: { facts: { plain: 2, several: 3, update: 2, distractor: 0 }, afterOthers: 1, told: 0, near: 1, far: 1 },
  },
  {
    others: 2,
    add: (book) => {
      addPreferences(book, 'plain', 'plain');
      addNear(book, book.others[1]!, 2);
      book.add(USER, book.drawFree(USER), 'plain');
    },
    questions: { facts: { plain: 3, several: 0, update: 0, distractor: 3 }, afterOthers: 1, told: 1, near: 1, far: 1 },
  },
  {
    others: 1,
    add: (book) => {
      addPreferences(book, 'plain', 'plain');
      addUpdate(book);
    },
    questions: { facts: { plain: 4, several: 0, update: 3, distractor: 0 }, afterOthers: 1, told: 1, near: 1, far: 0 },
  },
  {
    others: 2,
    add: (book) => {
      const [first] = addPreferences(book, 'several', 'plain');
      const other = book.others[1]!;
      book.add(other, first!, 'several');
      book.add(other, book.drawFree(other), 'distractor');
      book.add(USER, book.drawFree(USER), 'plain');
    },
    questions: { facts: { plain: 2, several: 3, update: 0, distractor: 2 }, afterOthers: 0, told: 1, near: 1, far: 1 },
  },
];

function planLarge(random: SeededRandom, grammar: Grammar, told: 0 | 1): UserPlan {
  const book = new FactBook(random, grammar, 4);
  addPreferences(book, 'plain', 'plain', 'plain');
  for (let updates = 0; updates < 3; updates++) addUpdate(book);
  const [first, second, third, fourth] = book.others;
  const shared = book.drawFree(USER, (relation) => book.isFree(first!, relation) && book.isFree(second!, relation));
  for (const subject of [USER, first!, second!]) book.add(subject, shared, 'several');
  addNear(book, third!, 3);
  addNear(book, fourth!, 3);
  const memories = random.int(MIN_LARGE, MAX_LARGE);
  while (book.facts.reduce((sum, { oldValue }) => sum + (oldValue === undefined ? 1 : 2), 0) < memories) {
    const subject = book.drawSubject(0.3);
    book.add(subject, book.drawFree(subject), 'plain');
  }
  const facts = { plain: 2, several: 1, update: 2, distractor: 2 };
  return { kind: 'large', book, questions: { facts, afterOthers: 1 - told, told, near: 1, far: 1 } };
}

/** Plans the user at `index`: recurring and large users alternate, and each kind cycles through its shapes. */
export function planUser(random: SeededRandom, grammar: Grammar, index: number): UserPlan {
  const turn = Math.floor(index / 2);
  if (index % 2 === 1) return planLarge(random, grammar, turn % 2 === 1 ? 1 : 0);
  const { others, add, questions } = RECURRING[turn % RECURRING.length]!;
  const book = new FactBook(random, grammar, others);
  add(book);
  return { kind: 'recurring', book, questions };
}

export interface EvaluationQuestion {
  readonly query: string;
  readonly answer: string | null;
  readonly fact?: EvaluationFact;
  readonly category: FactCategory | 'history' | 'absent';
  readonly side: PhrasingSide;
  readonly history: readonly HistoryMessage[];
}

const TRIES = 60;

/** Signals that the facts of a plan allow too few different wordings: the user must be drawn again. */
export class WordingsExhausted extends Error {}

/** Draws the questions of a planned user in different wordings. @throws WordingsExhausted where there are too few */
export function drawQuestions(random: SeededRandom, { book, questions: counts }: UserPlan): EvaluationQuestion[] {
  const queries = new Set<string>();

  function newQuery({ subject, relation }: Omit<Fact, 'value'>, side: PhrasingSide): string | undefined {
    for (let tries = 0; tries < TRIES; tries++) {
      const query = question(random, subject, relation, side);
      if (!queries.has(query)) {
        queries.add(query);
        return query;
      }
    }
    return undefined;
  }

  function requireQuery(about: Omit<Fact, 'value'>, side: PhrasingSide): string {
    const query = newQuery(about, side);
    if (query === undefined) throw new WordingsExhausted();
    return query;
  }

  /** Asks for the first fact, from `start` on, that has a new wording. */
  function aboutFact(facts: readonly EvaluationFact[], start = 0): { query: string; fact: EvaluationFact } {
    for (let offset = 0; offset < facts.length; offset++) {
      const fact = facts[(start + offset) % facts.length]!;
      const query = newQuery(fact, fact.side);
      if (query !== undefined) return { query, fact };
    }
    throw new WordingsExhausted();
  }

  const chatter = (turns: number): HistoryMessage[] =>
    random
      .shuffled(book.grammar.chatter)
      .slice(0, turns)
      .flatMap(([user, assistant]) => exchange(user, assistant));

  /** One to three turns that do not answer a question about `fact`. */
  function otherTurns(fact: EvaluationFact): HistoryMessage[] {
    if (random.chance(0.5)) return chatter(random.int(1, 3));
    const earlier = random.pick(book.facts.filter((other) => other !== fact));
    const query = question(random, earlier.subject, earlier.relation, earlier.side);
    const turns = exchange(query, formatAnswer(book.grammar, earlier.value).trim());
    return random.chance(0.5) ? [...chatter(1), ...turns] : turns;
  }

  /** A question that a message of the conversation answers, and no memory. */
  function aboutConversation(): EvaluationQuestion {
    const told = book.tell();
    const small = random.chance(0.6) ? chatter(1) : [];
    const history = random.chance(0.5) ? [...small, ...told.messages] : [...told.messages, ...small];
    return { query: requireQuery(told, told.side), answer: told.value, category: 'history', side: told.side, history };
  }

  /** The attribute of a stored fact for another subject, or another attribute of a known subject. */
  function nearBlank(): Omit<Fact, 'value'> {
    const subject = random.pick(book.others);
    const stored = random.shuffled(book.facts).find((fact) => book.isFree(subject, fact.relation));
    return { subject, relation: stored?.relation ?? book.drawFree(subject) };
  }

  /** A question that no memory answers and that no other question gives away. */
  function absent(near: boolean): EvaluationQuestion {
    const blank = near
      ? nearBlank()
      : { subject: USER, relation: book.drawFree(USER, (relation) => book.isNewTopic(relation)) };
    book.reserve(blank.subject, blank.relation);
    const side = book.drawSide(blank.relation);
    return { query: requireQuery(blank, side), answer: null, category: 'absent', side, history: [] };
  }

  const repeat = (count: number, draw: (index: number) => EvaluationQuestion): EvaluationQuestion[] =>
    Array.from({ length: count }, (_, index) => draw(index));

  return random.shuffled([
    ...Object.entries(counts.facts).flatMap(([category, count]) => {
      const facts = random.shuffled(book.facts.filter((fact) => fact.category === category));
      return repeat(count, (index) => {
        const { query, fact } = aboutFact(facts, index);
        return { query, answer: fact.value, fact, category: fact.category, side: fact.side, history: [] };
      });
    }),
    ...repeat(counts.afterOthers, () => {
      const { query, fact } = aboutFact(random.shuffled(book.facts));
      return { query, answer: fact.value, fact, category: 'history', side: fact.side, history: otherTurns(fact) };
    }),
    ...repeat(counts.told, aboutConversation),
    ...repeat(counts.near, () => absent(true)),
    ...repeat(counts.far, () => absent(false)),
  ]);
}
