import type { Grammar } from '../../base/grammar.ts';
import type { HistoryMessage, WrittenRecord } from '../schema.ts';
import { containsTokens } from '../normalise.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { exchange, instant, jsonLines, ordinal } from './wording.ts';
import { FactBook, type EvaluationFact } from './fact-book.ts';
import { question, statement, USER, type Relation, type Subject } from './relations.ts';

export type MemoryLine = Extract<WrittenRecord, { type: 'memory' }>;
export type ItemLine = Extract<WrittenRecord, { type: 'item' }>;

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2025, 8, 1, 8);
const OTHERS = 4;
const OTHERS_SHARE = 0.3;
const TRIES = 200;

/** Subject and relation of a memory that is not drawn. */
export interface WantedMemory {
  readonly subject: Subject;
  readonly relation: Relation;
  /** Replaces the subject in the wording, such as "she". */
  readonly named?: Subject;
}

/** A question to a growing user, about the memories so far. */
export interface GrownQuestion {
  /** Index of the memory whose fact is asked for. */
  readonly memory: number;
  /** Index of an earlier memory that is needed to understand it. */
  readonly before?: number;
  readonly condition: number;
  readonly conversation?: string;
  readonly history?: readonly HistoryMessage[];
}

/**
 * One user whose memories grow day by day, with questions in between, so that comparisons are made within a user. No two
 * memories can be confused, no value occurs twice, and no question holds its answer.
 */
export class GrowingUser {
  readonly userId: string;
  readonly #random: SeededRandom;
  readonly #grammar: Grammar;
  readonly #book: FactBook;
  readonly #facts: EvaluationFact[] = [];
  readonly #memories: MemoryLine[] = [];
  readonly #items: ItemLine[] = [];
  readonly #asked = new Set<string>();

  constructor(random: SeededRandom, grammar: Grammar, userId: string) {
    this.userId = userId;
    this.#random = random;
    this.#grammar = grammar;
    this.#book = new FactBook(random, grammar, OTHERS);
  }

  /** The memories so far, the oldest first. */
  get memories(): readonly MemoryLine[] {
    return this.#memories;
  }

  /** Subjects with a name. */
  get people(): readonly Subject[] {
    return this.#book.others.filter(({ kind }) => kind === 'named');
  }

  /** Draws a relation that is free for all of the subjects. */
  drawFree(subjects: readonly Subject[], wanted: (relation: Relation) => boolean = () => true): Relation {
    const [first, ...others] = subjects;
    return this.#book.drawFree(
      first!,
      (relation) => wanted(relation) && others.every((subject) => this.#book.isFree(subject, relation)),
    );
  }

  /** Adds a memory. @returns its index */
  remember(wanted?: WantedMemory): number {
    for (let tries = 0; tries < TRIES; tries++) {
      const subject = wanted?.subject ?? this.#book.drawSubject(OTHERS_SHARE);
      const fact = this.#book.add(subject, wanted?.relation ?? this.#book.drawFree(subject), 'plain');
      const content = statement(this.#random, { ...fact, subject: wanted?.named ?? subject }, fact.side);
      if (this.#memories.some((other) => this.#holds(other.content, fact.value) || this.#holds(content, other.value!)))
        continue;
      const number = this.#memories.length;
      this.#facts.push(fact);
      this.#memories.push({
        type: 'memory',
        userId: this.userId,
        memoryId: `${this.userId}-m${ordinal(number, 3)}`,
        content,
        createdAt: day(number, 0),
        value: fact.value,
        ...(fact.relation.preference && fact.subject === USER ? { preference: true } : {}),
      });
      return number;
    }
    throw new RangeError(`the grammar is too small: no further memory of ${this.userId} in ${TRIES} draws`);
  }

  /** Adds a question about a memory, in a new wording. */
  ask({ memory, before, condition, conversation, history = [] }: GrownQuestion): void {
    const fact = this.#facts[memory]!;
    const query = this.#wording(fact);
    this.#items.push({
      ...this.#item(query, condition, conversation),
      answer: fact.value,
      evidence: [...(before === undefined ? [] : [before]), memory].map((number) => this.#memories[number]!.memoryId),
      category: 'memory',
      phrasing: fact.side === 'heldOut' ? 'held-out' : 'known',
      ...(history.length === 0 ? {} : { history: [...history] }),
    });
  }

  /**
   * Draws a fact that is said in the conversation and stored in no memory.
   * @returns the messages that state it, and a function that adds the question for it
   */
  tell(): { readonly messages: readonly HistoryMessage[]; readonly ask: (of: Omit<GrownQuestion, 'memory'>) => void } {
    const relation = this.#book.drawFree(USER);
    this.#book.reserve({ subject: USER, relation });
    const side = this.#book.drawSide(relation);
    const value = this.#book.drawValue(relation);
    const messages = exchange(
      statement(this.#random, { subject: USER, relation, value }, side, { firstPerson: true }),
      this.#random.pick(this.#grammar.acknowledgements),
    );
    const ask = ({ condition, conversation, history = [] }: Omit<GrownQuestion, 'memory'>): void => {
      this.#items.push({
        ...this.#item(question(this.#random, USER, relation, side), condition, conversation),
        answer: value,
        category: 'told',
        phrasing: side === 'heldOut' ? 'held-out' : 'known',
        ...(history.length === 0 ? {} : { history: [...history] }),
      });
    };
    return { messages, ask };
  }

  /** The user's records, memories first. */
  get records(): readonly (MemoryLine | ItemLine)[] {
    return [...this.#memories, ...this.#items];
  }

  #item(
    query: string,
    condition: number,
    conversation: string | undefined,
  ): Pick<ItemLine, 'type' | 'itemId' | 'userId' | 'query' | 'askedAt' | 'condition' | 'conversation'> {
    const number = this.#items.length;
    return {
      type: 'item',
      itemId: `${this.userId}-q${ordinal(number, 3)}`,
      userId: this.userId,
      query,
      askedAt: day(this.#memories.length - 1, number + 1),
      condition,
      ...(conversation === undefined ? {} : { conversation }),
    };
  }

  #holds(text: string, value: string): boolean {
    return containsTokens(text, value, this.#grammar.language);
  }

  #wording(fact: EvaluationFact): string {
    let query = '';
    for (let tries = 0; tries < TRIES; tries++) {
      query = question(this.#random, fact.subject, fact.relation, fact.side);
      if (!this.#asked.has(query)) break;
    }
    this.#asked.add(query);
    return query;
  }
}

/** Formats a time: one memory a day, questions in the minutes after it. */
function day(number: number, minutes: number): string {
  return instant(FIRST_DAY_MS + number * DAY_MS + minutes * 60_000);
}

/** Writes the file of a data set of growing users, named `NAME-LANGUAGE`; the same seed and grammar give the same bytes. */
export function growingDataset(
  name: string,
  { language, unknownAnswer }: Grammar,
  seed: number,
  users: readonly GrowingUser[],
): string {
  const records: WrittenRecord[] = [
    { type: 'dataset', name: `${name}-${language}`, language, version: 2, seed, unknownAnswer },
    ...users.flatMap((user) => user.records),
  ];
  return jsonLines(records);
}
