import type { HistoryMessage } from '../schema.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import type { UserPlan } from './evaluation-plan.ts';
import type { Blank, EvaluationFact } from './fact-book.ts';
import { answerIn, exchange } from './wording.ts';
import { question, statement, USER, type PhrasingSide } from './relations.ts';

/** One question of a user; `fact` is the fact that answers it. */
export interface EvaluationQuestion {
  readonly query: string;
  readonly answer: string | null;
  readonly fact?: EvaluationFact;
  readonly category: EvaluationFact['category'] | 'history' | 'absent';
  readonly side: PhrasingSide;
  readonly history: readonly HistoryMessage[];
}

const TRIES = 60;

/** Signals that the facts of a plan allow too few different wordings: the user must be drawn again. */
export class WordingsExhausted extends Error {}

/** Draws the questions of a plan, each in a different wording. */
class Questioner {
  readonly #random: SeededRandom;
  readonly #plan: UserPlan;
  readonly #asked = new Set<string>();

  constructor(random: SeededRandom, plan: UserPlan) {
    this.#random = random;
    this.#plan = plan;
  }

  /** Draws a new wording for one of the facts, beginning at `start`. */
  aboutFact(facts: readonly EvaluationFact[], start: number): { query: string; fact: EvaluationFact } {
    for (let offset = 0; offset < facts.length; offset++) {
      const fact = facts[(start + offset) % facts.length]!;
      const query = this.#newWords(fact, fact.side);
      if (query !== undefined) return { query, fact };
    }
    throw new WordingsExhausted();
  }

  /** Draws a question that no memory answers and that no other question gives away. */
  absent(near: boolean): EvaluationQuestion {
    const { book } = this.#plan;
    const blank = near
      ? this.#nearBlank()
      : { subject: USER, relation: book.drawFree(USER, (each) => book.isNewTopic(each)) };
    book.reserve(blank);
    const side = book.drawSide(blank.relation);
    return { query: this.#mustAsk(blank, side), answer: null, category: 'absent', side, history: [] };
  }

  /** Draws a question that a message of the conversation answers, and no memory. */
  told(): EvaluationQuestion {
    const { book } = this.#plan;
    const blank = { subject: USER, relation: book.drawFree(USER) };
    book.reserve(blank);
    const side = book.drawSide(blank.relation);
    const value = book.drawValue(blank.relation);
    const telling = exchange(
      statement(this.#random, { ...blank, value }, side, { firstPerson: true }),
      this.#random.pick(book.grammar.acknowledgements),
    );
    const small = this.#random.chance(0.6) ? this.#chatter(1) : [];
    const history = this.#random.chance(0.5) ? [...small, ...telling] : [...telling, ...small];
    return { query: this.#mustAsk(blank, side), answer: value, category: 'history', side, history };
  }

  /** Draws one to three turns that do not answer a question about `fact`. */
  otherTurns(fact: EvaluationFact): HistoryMessage[] {
    if (this.#random.chance(0.5)) return this.#chatter(this.#random.int(1, 3));
    const earlier = this.#random.pick(this.#plan.book.facts.filter((other) => other !== fact));
    const turns = exchange(
      question(this.#random, earlier.subject, earlier.relation, earlier.side),
      answerIn(this.#plan.book.grammar, earlier.value).trim(),
    );
    return this.#random.chance(0.5) ? [...this.#chatter(1), ...turns] : turns;
  }

  #chatter(turns: number): HistoryMessage[] {
    return this.#random
      .shuffled(this.#plan.book.grammar.chatter)
      .slice(0, turns)
      .flatMap(([user, assistant]) => exchange(user, assistant));
  }

  /** Draws the attribute of a stored fact for another subject, or another attribute of a known subject. */
  #nearBlank(): Blank {
    const { book } = this.#plan;
    const subject = this.#random.pick(book.others);
    const stored = this.#random.shuffled(book.facts).find((fact) => book.isFree(subject, fact.relation));
    return { subject, relation: stored?.relation ?? book.drawFree(subject) };
  }

  #mustAsk(blank: Blank, side: PhrasingSide): string {
    const query = this.#newWords(blank, side);
    if (query === undefined) throw new WordingsExhausted();
    return query;
  }

  #newWords({ subject, relation }: Blank, side: PhrasingSide): string | undefined {
    for (let tries = 0; tries < TRIES; tries++) {
      const query = question(this.#random, subject, relation, side);
      if (this.#asked.has(query)) continue;
      this.#asked.add(query);
      return query;
    }
    return undefined;
  }
}

/**
 * Draws the questions of a planned user in the order in which they are asked.
 * @throws WordingsExhausted where the drawn facts cannot be asked for in enough different words
 */
export function drawQuestions(random: SeededRandom, plan: UserPlan): EvaluationQuestion[] {
  const questioner = new Questioner(random, plan);
  const { book, questions: wanted } = plan;
  const questions: EvaluationQuestion[] = [];
  for (const [category, count] of Object.entries(wanted.facts) as [EvaluationFact['category'], number][]) {
    const facts = random.shuffled(book.facts.filter((fact) => fact.category === category));
    for (let asked = 0; asked < count; asked++) {
      const { query, fact } = questioner.aboutFact(facts, asked);
      questions.push({ query, answer: fact.value, fact, category, side: fact.side, history: [] });
    }
  }
  for (let asked = 0; asked < wanted.afterOthers; asked++) {
    const { query, fact } = questioner.aboutFact(random.shuffled(book.facts), 0);
    const history = questioner.otherTurns(fact);
    questions.push({ query, answer: fact.value, fact, category: 'history', side: fact.side, history });
  }
  for (let asked = 0; asked < wanted.told; asked++) questions.push(questioner.told());
  for (let asked = 0; asked < wanted.near; asked++) questions.push(questioner.absent(true));
  for (let asked = 0; asked < wanted.far; asked++) questions.push(questioner.absent(false));
  return random.shuffled(questions);
}
