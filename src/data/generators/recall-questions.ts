import type { SeededRandom } from '../../base/seeded-random.ts';
import type { HistoryMessage } from '../record-schemas.ts';
import type { UserPlan } from './recall-user-plan.ts';
import type { EvaluationFact, FactCategory } from './fact-book.ts';
import { type Fact, type PhrasingSide, USER } from './facts-and-relations.ts';
import { exchange } from './format-generated-records.ts';
import { formatAnswer } from './fill-template.ts';
import { question } from './fact-wording.ts';

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
