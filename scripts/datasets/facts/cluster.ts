import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { factsOf, type FactTemplate } from './fact-grammar.ts';
import type { PlannedQuestion } from './planned-question.ts';
import type { Acquaintance, Note, UserNotes } from './user-notes.ts';
import { worded } from './wording.ts';

/** The memories about one subject that questions return to. */
export class Cluster {
  readonly about: Acquaintance;
  readonly notes: Note[] = [];
  readonly #random: SeededRandom;
  readonly #book: UserNotes;

  constructor(random: SeededRandom, book: UserNotes, about: Acquaintance) {
    this.#random = random;
    this.#book = book;
    this.about = about;
  }

  plain(): PlannedQuestion {
    const note = this.#tell(() => true);
    return { category: 'plain', about: this.about, fact: note.fact, note };
  }

  updated(): PlannedQuestion {
    const old = this.#tell(({ changes }) => changes.length > 0);
    const note = this.#book.tell(this.about, old.fact, { replaces: old });
    this.notes.push(note);
    return { category: 'updated', about: this.about, fact: note.fact, note };
  }

  /** A memory, and a question that shares no content word with it. */
  paraphrase(): PlannedQuestion {
    const { subject } = this.about;
    const fact = this.#freeFact(({ paraphrases }) => paraphrases.length > 0);
    const query = worded(this.#book.grammar, this.#random.pick(fact.paraphrases), subject, 'alt');
    const note = this.#book.tell(this.about, fact, { apartFrom: query });
    this.notes.push(note);
    return { category: 'paraphrase', about: this.about, fact, note, query };
  }

  /** Tells more, until there are so many memories. */
  fill(count: number): void {
    while (this.notes.length < count) this.#tell(() => true);
  }

  #freeFact(suits: (fact: FactTemplate) => boolean): FactTemplate {
    const { topic, subject } = this.about;
    const facts = factsOf(topic, subject).filter((fact) => this.#book.isFree(subject, fact) && suits(fact));
    return this.#random.pick(facts);
  }

  #tell(suits: (fact: FactTemplate) => boolean): Note {
    const note = this.#book.tell(this.about, this.#freeFact(suits));
    this.notes.push(note);
    return note;
  }
}
