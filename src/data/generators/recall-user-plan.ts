import type { Grammar } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { FactBook, type FactCategory } from './fact-book.ts';
import { canChange, USER, type Relation, type Subject } from './facts-and-relations.ts';

/** Numbers of questions to one user by kind; ten in all. */
export interface QuestionPlan {
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

export interface UserPlan {
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
