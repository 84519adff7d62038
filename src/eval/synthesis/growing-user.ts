import type { Grammar } from '../../config/grammar.ts';
import type { HistoryMessage } from '../../systems/prompt/segments.ts';
import type { WrittenRecord } from '../dataset/schema.ts';
import { containsTokens } from '../metrics/normalise.ts';
import type { SeededRandom } from '../random.ts';
import { exchange } from './exchange.ts';
import { FactBook, type EvaluationFact } from './fact-book.ts';
import { question, statement, USER, type Relation, type Subject } from './relations.ts';

export type MemoryLine = Extract<WrittenRecord, { type: 'memory' }>;
export type ItemLine = Extract<WrittenRecord, { type: 'item' }>;

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2025, 8, 1, 8);
const OTHERS = 4;
const OTHERS_SHARE = 0.3;
const TRIES = 200;

/** What a memory is to be about, where that is no draw. */
export interface WantedMemory {
  readonly subject: Subject;
  readonly relation: Relation;
  /** Whom the memory names instead: "she". */
  readonly named?: Subject;
}

/** A question of a growing user, which sees the memories so far. */
export interface GrownQuestion {
  /** The fact that is asked for, by the number of its memory. */
  readonly memory: number;
  /** An earlier memory without which that one cannot be understood. */
  readonly before?: number;
  readonly condition: number;
  readonly conversation?: string;
  readonly history?: readonly HistoryMessage[];
}

/**
 * One user whose memories grow day by day and who is asked in between, so that what grows is compared within a user.
 * No two memories could be taken for each other, no value occurs twice, and no question holds its answer.
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

  /** People by name, of whom memories may be. */
  get people(): readonly Subject[] {
    return this.#book.others.filter(({ kind }) => kind === 'named');
  }

  /** A relation of which nothing is known of any of the subjects. */
  drawFree(subjects: readonly Subject[], wanted: (relation: Relation) => boolean = () => true): Relation {
    const [first, ...others] = subjects;
    return this.#book.drawFree(
      first!,
      (relation) => wanted(relation) && others.every((subject) => this.#book.isFree(subject, relation)),
    );
  }

  /** Remembers one thing more. @returns the number of its memory */
  remember(wanted?: WantedMemory): number {
    for (let tries = 0; tries < TRIES; tries++) {
      const subject = wanted?.subject ?? this.#book.drawSubject(OTHERS_SHARE);
      const fact = this.#book.add(subject, wanted?.relation ?? this.#book.drawFree(subject), 'plain');
      const content = statement(this.#random, wanted?.named ?? subject, fact.relation, fact.value, fact.side);
      if (this.#memories.some((other) => this.#holds(other.content, fact.value) || this.#holds(content, other.value!)))
        continue;
      const number = this.#memories.length;
      this.#facts.push(fact);
      this.#memories.push({
        type: 'memory',
        userId: this.userId,
        memoryId: `${this.userId}-m${String(number + 1).padStart(3, '0')}`,
        content,
        createdAt: day(number, 0),
        value: fact.value,
        ...(fact.relation.preference && fact.subject === USER ? { preference: true } : {}),
      });
      return number;
    }
    throw new RangeError(`the grammar is too small: no further memory of ${this.userId} in ${TRIES} draws`);
  }

  /** Asks for something that a memory holds, in words that were not used before. */
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
   * Something that the user says in a conversation and no memory holds: the messages that tell it, and what asks for it
   * later.
   */
  tell(): { readonly messages: readonly HistoryMessage[]; readonly ask: (of: Omit<GrownQuestion, 'memory'>) => void } {
    const relation = this.#book.drawFree(USER);
    this.#book.reserve({ subject: USER, relation });
    const side = this.#book.drawSide(relation);
    const value = this.#book.drawValue(relation);
    const messages = exchange(
      statement(this.#random, USER, relation, value, side, { firstPerson: true }),
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

  /** Records of a data set. */
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
      itemId: `${this.userId}-q${String(number + 1).padStart(3, '0')}`,
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

/** A memory a day; questions come in its minutes after the memory. */
function day(number: number, minutes: number): string {
  return new Date(FIRST_DAY_MS + number * DAY_MS + minutes * 60_000).toISOString().replace('.000', '');
}

/** The file of a data set of such users, named `NAME-LANGUAGE`; the same bytes for the same seed and grammar. */
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
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
