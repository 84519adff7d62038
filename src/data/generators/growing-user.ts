import type { Grammar } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { containsTokens } from '../normalise-text.ts';
import type { HistoryMessage, WrittenItem, WrittenMemory } from '../record-schemas.ts';
import { type EvaluationFact, FactBook } from './fact-book.ts';
import { type PhrasingSide, type Relation, type Subject, USER } from './facts-and-relations.ts';
import { formatTime, ordinal } from './format-generated-records.ts';
import { question, statement } from './fact-wording.ts';

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2025, 8, 1, 8);
const OTHERS = 4;
const OTHERS_SHARE = 0.3;
const TRIES = 200;

/** Subject and relation of a memory, to add instead of drawn ones. */
interface WantedMemory {
  readonly subject: Subject;
  readonly relation: Relation;
  /** Replaces the subject in the wording, such as "she". */
  readonly named?: Subject;
}

interface QuestionContext {
  /** The value of the variable that the suite varies. */
  readonly condition: number;
  readonly conversation?: string;
  readonly history?: readonly HistoryMessage[];
}

interface GrownQuestion extends QuestionContext {
  /** Index of the memory that states the answer. */
  readonly memory: number;
  /** Index of an earlier memory that is needed to understand it. */
  readonly before?: number;
}

/** A user with a new memory each day and questions in between. No two memories can be confused. */
export class GrowingUser {
  readonly userId: string;
  readonly #random: SeededRandom;
  readonly #book: FactBook;
  readonly #facts: EvaluationFact[] = [];
  readonly memories: WrittenMemory[] = [];
  readonly items: WrittenItem[] = [];
  readonly #queries = new Set<string>();

  constructor(random: SeededRandom, grammar: Grammar, userId: string) {
    this.userId = userId;
    this.#random = random;
    this.#book = new FactBook(random, grammar, OTHERS);
  }

  get people(): readonly Subject[] {
    return this.#book.others.filter(({ kind }) => kind === 'named');
  }

  drawFree([first, ...others]: readonly Subject[], wanted: (relation: Relation) => boolean = () => true): Relation {
    return this.#book.drawFree(
      first!,
      (relation) => wanted(relation) && others.every((subject) => this.#book.isFree(subject, relation)),
    );
  }

  remember(wanted?: WantedMemory): number {
    const holds = (text: string, value: string): boolean => containsTokens(text, value, this.#book.grammar.language);
    for (let tries = 0; tries < TRIES; tries++) {
      const subject = wanted?.subject ?? this.#book.drawSubject(OTHERS_SHARE);
      const fact = this.#book.add(subject, wanted?.relation ?? this.#book.drawFree(subject), 'plain');
      const content = statement(this.#random, { ...fact, subject: wanted?.named ?? subject }, fact.side);
      const isUnclear = this.memories.some((other) => holds(other.content, fact.value) || holds(content, other.value!));
      if (isUnclear) continue;
      const number = this.#facts.push(fact) - 1;
      this.memories.push({
        type: 'memory',
        userId: this.userId,
        memoryId: `${this.userId}-m${ordinal(number, 3)}`,
        content,
        createdAt: day(number),
        value: fact.value,
        preference: (fact.relation.preference && fact.subject === USER) || undefined,
      });
      return number;
    }
    throw new RangeError(`the grammar is too small: no further memory of ${this.userId} in ${TRIES} draws`);
  }

  /** Adds a question about a memory, if possible in a new wording. */
  ask({ memory, before, ...context }: GrownQuestion): void {
    const { subject, relation, side, value } = this.#facts[memory]!;
    let query = '';
    for (let tries = 0; tries < TRIES; tries++) {
      query = question(this.#random, subject, relation, side);
      if (!this.#queries.has(query)) break;
    }
    this.#queries.add(query);
    const needed = before === undefined ? [memory] : [before, memory];
    const evidence = needed.map((index) => this.memories[index]!.memoryId);
    this.#addItem(query, { answer: value, evidence, category: 'memory' }, side, context);
  }

  /**
   * Draws a fact that only the conversation states.
   * @returns its messages, and a function that adds the question for it
   */
  tell(): { readonly messages: readonly HistoryMessage[]; readonly ask: (context: QuestionContext) => void } {
    const { relation, side, value, messages } = this.#book.tell();
    const ask = (context: QuestionContext): void => {
      const query = question(this.#random, USER, relation, side);
      this.#addItem(query, { answer: value, category: 'told' }, side, context);
    };
    return { messages, ask };
  }

  #addItem(
    query: string,
    gold: Pick<WrittenItem, 'answer' | 'evidence' | 'category'>,
    side: PhrasingSide,
    { condition, conversation, history = [] }: QuestionContext,
  ): void {
    const number = this.items.length;
    this.items.push({
      type: 'item',
      itemId: `${this.userId}-q${ordinal(number, 3)}`,
      userId: this.userId,
      query,
      askedAt: day(this.memories.length - 1, number + 1),
      condition,
      conversation,
      ...gold,
      phrasing: side === 'heldOut' ? 'held-out' : 'known',
      history: history.length === 0 ? undefined : [...history],
    });
  }
}

/** Formats a time: one memory a day, questions in the minutes after it. */
function day(number: number, minutes = 0): string {
  return formatTime(FIRST_DAY_MS + number * DAY_MS + minutes * 60_000);
}
