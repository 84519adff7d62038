import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type FactGrammar, factsOf, type FactTemplate, type Subject, type Topic } from './fact-grammar.ts';
import type { Acquaintance, Note, UserNotes, Wanted } from './user-notes.ts';
import { sharedWords } from './content-words.ts';
import { type CombinedQuestion, CombinedQuestions, combinations } from './combined-questions.ts';
import { Wheel } from './wheel.ts';
import { pronounAsks, worded } from './wording.ts';

/** The category of which a user has two questions, the second a repetition of the first. */
export type Extra = Extract<FactCategory, 'updated' | 'absent' | 'two memories'>;

export interface UserShape {
  /** Number of memories. */
  readonly size: number;
  readonly extra: Extra;
}

const MIN_SIZE = 10;
/** Memories about a subject that questions return to: as many as a retrieval returns. */
const CLUSTER = 5;
const NEAR_SHARE = 0.7;
const NAMED_SHARE = 0.25;
const CHANGED_SHARE = 0.15;
const FACTS_A_SUBJECT = 8;
/** Questions of each category that the harder edition asks a user. */
const ROUNDS = 3;
/** Sentences of small talk beside a statement. */
const MAX_TALK = 5;

/** Wheels over the topics of the subjects that questions return to, and of those with a name. */
export type TopicWheels = ReturnType<typeof topicWheels>;

/** Wheels over the topics of a grammar: a user's first subject is one that can be named and pointed at. */
export function topicWheels(random: SeededRandom, { topics }: FactGrammar) {
  const shared = topics.filter(({ subjects }) => subjects.length > 1);
  const linked = topics.filter(({ link }) => link !== undefined);
  return { first: new Wheel(random, shared), second: new Wheel(random, topics), named: new Wheel(random, linked) };
}

/** The memories about one subject that questions return to. */
interface Cluster {
  readonly about: Acquaintance;
  readonly notes: Note[];
}

/** The same question once more. */
const again = (question: PlannedQuestion): PlannedQuestion => ({ ...question, repeats: question });

export class UserPlanner {
  readonly #random: SeededRandom;
  readonly #grammar: FactGrammar;
  readonly #notes: UserNotes;
  readonly #wheels: TopicWheels;

  constructor(random: SeededRandom, notes: UserNotes, wheels: TopicWheels) {
    this.#random = random;
    this.#wheels = wheels;
    this.#grammar = notes.grammar;
    this.#notes = notes;
  }

  /** Plans the questions in the order in which they are asked, and writes the memories. */
  plan({ size, extra }: UserShape): PlannedQuestion[] {
    const main = this.#meet('first', []);
    const named = this.#meetByName(main.about.topic);
    const roomy = size >= MIN_SIZE + CLUSTER;
    const second = roomy ? this.#meet('second', [main.about.topic, named.topic]) : main;
    const updated = this.#updated(main);
    const plain = this.#asked('plain', this.#tellSome(main));
    const paraphrase = this.#paraphrase(second);
    for (const cluster of [main, second]) while (cluster.notes.length < CLUSTER) this.#tellSome(cluster);
    const [told, byName] = this.#byName(named);
    const absent = this.#absent(main);
    const history = this.#history(second);
    this.#fillTo(size);
    const twice = { updated, absent, 'two memories': told! }[extra];
    const near = this.#random.pick([updated, absent].filter((one) => one !== twice));
    const others = [updated, absent, told!, byName!, history].filter((one) => one !== twice && one !== near);
    const [early, ...late] = this.#random.shuffled(others);
    return [
      ...this.#random.pick([
        [plain, near, again(plain)],
        [plain, again(plain), near],
      ]),
      ...this.#random.shuffled([[paraphrase, again(paraphrase)], [twice, again(twice)], [early!]]).flat(),
      ...late,
    ];
  }

  /**
   * Plans the questions of the harder edition: three of each category, no question twice. Of every two updates one has its
   * superseded memory in words nearer to the question: a bare statement, while the new one stands among small talk.
   * @param index of the user: the combinations of memories take turns
   */
  planHarder(size: number, index: number): PlannedQuestion[] {
    const combined = new CombinedQuestions(this.#random, this.#notes);
    const questions = [0, 1, 2].flatMap((round): PlannedQuestion[] => {
      const place = (ROUNDS * index + round) % (combinations.length + 1);
      const twoMemories = combinations[place]
        ? combined.plan(combinations[place])
        : this.#byName(this.#meetByName(this.#grammar.topics[0]!))[0]!;
      const cluster = this.#meet(round === 0 ? 'first' : 'second', []);
      const planned = [
        this.#updatedBesideTalk(cluster, (ROUNDS * index + round) % 2 === 0),
        this.#asked(
          'plain',
          this.#tellSome(cluster, (fact) => this.#canAskInItsWords(cluster.about, fact)),
        ),
        this.#paraphrase(cluster),
        this.#absent(cluster),
        this.#history(cluster),
        this.#besideAnother(),
        twoMemories,
      ];
      while (cluster.notes.length < CLUSTER) this.#tellSome(cluster);
      return planned;
    });
    this.#fillTo(size);
    return this.#random.shuffled(questions);
  }

  /** True if each statement of a fact shares a content word with a question: "I studied law" shares none. */
  #canAskInItsWords({ subject }: Acquaintance, { says, asks }: FactTemplate): boolean {
    const inWords = (template: string): string => worded(this.#grammar, template, subject, 'mine');
    return says.every((say) => asks.some((ask) => sharedWords(this.#grammar, inWords(ask), inWords(say)).length > 0));
  }

  /** An update of which either the old or the new memory is hidden by small talk. */
  #updatedBesideTalk(cluster: Cluster, isOldNearer: boolean): PlannedQuestion {
    const fact = this.#pickFact(cluster, ({ changes }) => changes.length > 0);
    const old = this.#tell(cluster, fact, { talk: isOldNearer ? 0 : this.#random.int(2, MAX_TALK) });
    const talk = isOldNearer ? this.#random.int(2, MAX_TALK) : 0;
    return this.#asked('updated', this.#tell(cluster, fact, { replaces: old, talk }));
  }

  /** A fact that is told of two subjects of a topic; one of them is asked about. */
  #besideAnother(): PlannedQuestion {
    const suits = (topic: Topic): boolean => this.#newSubjects(topic).length > 1;
    const topic = this.#wheels.first.next(suits);
    const [subject, other] = this.#random.shuffled(this.#newSubjects(topic)) as [Subject, Subject];
    const shared = factsOf(topic, subject).filter((fact) => factsOf(topic, other).includes(fact));
    const fact = this.#random.pick(shared.filter((one) => one.relation !== topic.link?.relation));
    const [about, beside] = [subject, other].map((one) => this.#notes.meet(topic, one));
    const tellOther = (): Note => this.#notes.tell(beside!, fact, { talk: 0 });
    if (this.#random.chance(0.5)) tellOther();
    const note = this.#notes.tell(about!, fact, { talk: this.#random.int(0, MAX_TALK) });
    if (this.#notes.isFree(other, fact)) tellOther();
    return this.#asked('distractor', note);
  }

  /** Introduces a subject that questions return to. */
  #meet(place: keyof TopicWheels, others: readonly Topic[]): Cluster {
    const topic = this.#wheels[place].next((one) => !others.includes(one) && this.#newSubjects(one).length > 0);
    const subject = this.#random.pick(this.#newSubjects(topic));
    return { about: this.#notes.meet(topic, subject), notes: [] };
  }

  #asked(category: FactCategory, note: Note): PlannedQuestion {
    return { category, about: note.about, fact: note.fact, note };
  }

  #updated(cluster: Cluster): PlannedQuestion {
    const old = this.#tellSome(cluster, ({ changes }) => changes.length > 0);
    return this.#asked('updated', this.#tell(cluster, old.fact, { replaces: old }));
  }

  /** A memory, and a question that shares no content word with it. */
  #paraphrase(cluster: Cluster): PlannedQuestion {
    const fact = this.#pickFact(cluster, ({ paraphrases }) => paraphrases.length > 0);
    const query = worded(this.#grammar, this.#random.pick(fact.paraphrases), cluster.about.subject, 'alt');
    return { ...this.#asked('paraphrase', this.#tell(cluster, fact, { apartFrom: query })), query };
  }

  #pickFact({ about: { topic, subject } }: Cluster, suits: (fact: FactTemplate) => boolean): FactTemplate {
    return this.#random.pick(
      factsOf(topic, subject).filter((fact) => this.#notes.isFree(subject, fact) && suits(fact)),
    );
  }

  #tell(cluster: Cluster, fact: FactTemplate, wanted?: Wanted): Note {
    const note = this.#notes.tell(cluster.about, fact, wanted);
    cluster.notes.push(note);
    return note;
  }

  #tellSome(cluster: Cluster, suits: (fact: FactTemplate) => boolean = () => true): Note {
    return this.#tell(cluster, this.#pickFact(cluster, suits));
  }

  /** Subjects that nothing is known of and that can be named in other words. */
  #newSubjects({ subjects }: Topic): Subject[] {
    const nameable = subjects.filter(({ alt }) => alt !== undefined || subjects.length === 1);
    return nameable.filter((subject) => this.#notes.isNew(subject));
  }

  #meetByName(other: Topic): Acquaintance & { readonly link: Note } {
    const topic = this.#wheels.named.next((one) => one !== other);
    return this.#notes.meetByName(topic, this.#random.pick(topic.subjects.filter((one) => this.#notes.isNew(one))));
  }

  /** Two questions about a subject that memories call by its name: one by its role, which needs two memories. */
  #byName(about: Acquaintance): PlannedQuestion[] {
    const facts = this.#free(about).slice(0, CLUSTER - 1);
    const [first, second] = facts.map((fact) => this.#notes.tell(about, fact));
    return [this.#asked('two memories', first!), this.#asked('plain', second!)];
  }

  /** A question about a known subject that nobody answered, or about one of whom nothing is known. */
  #absent(cluster: Cluster): PlannedQuestion {
    const [fact] = this.#free(cluster.about);
    if (fact !== undefined && this.#random.chance(NEAR_SHARE)) {
      this.#notes.reserve(cluster.about.subject, fact);
      return { category: 'absent', about: cluster.about, fact };
    }
    const about = this.#stranger();
    return { category: 'absent', about, fact: this.#random.pick(factsOf(about.topic, about.subject)) };
  }

  #stranger(): Acquaintance {
    const unknown = this.#everyone().filter(({ subject }) => this.#notes.isNew(subject));
    const stranger = this.#random.pick(unknown.filter(({ topic }) => topic.subjects.length > 1));
    this.#notes.neverMeet(stranger.subject);
    return { ...stranger, naming: 'mine' };
  }

  #everyone(): { topic: Topic; subject: Subject }[] {
    return this.#grammar.topics.flatMap((topic) => topic.subjects.map((subject) => ({ topic, subject })));
  }

  /** A question about a told fact with a pronoun, or about one that only the conversation says. */
  #history(cluster: Cluster): PlannedQuestion {
    const { about } = cluster;
    const changed = new Set(
      cluster.notes.flatMap((note) => (note.replaces === undefined ? [] : [note, note.replaces])),
    );
    const pointable = about.subject.pronoun === undefined ? [] : cluster.notes.filter((note) => !changed.has(note));
    const notes = pointable.filter(({ fact }) => pronounAsks(this.#grammar, fact, about.subject).length > 0);
    const [free] = this.#free(about);
    const points = notes.length > 0 && (free === undefined || this.#random.chance(0.5));
    if (points) return this.#asked('history', this.#random.pick(notes));
    if (free !== undefined) return { category: 'history', about, fact: free };
    const stranger = this.#stranger();
    return { category: 'history', about: stranger, fact: this.#random.pick(factsOf(stranger.topic, stranger.subject)) };
  }

  #free({ topic, subject }: Acquaintance): FactTemplate[] {
    return this.#random.shuffled(factsOf(topic, subject).filter((fact) => this.#notes.isFree(subject, fact)));
  }

  /** Adds memories that nobody asks for, about everybody else. */
  #fillTo(size: number): void {
    for (const { topic, subject } of this.#random.shuffled(this.#everyone())) {
      if (this.#notes.notes.length >= size) return;
      if (!this.#notes.isNew(subject)) continue;
      const named = topic.link !== undefined && this.#random.chance(NAMED_SHARE);
      const about = named ? this.#notes.meetByName(topic, subject) : this.#notes.meet(topic, subject);
      const count = this.#random.int(2, FACTS_A_SUBJECT);
      for (const fact of this.#free(about).slice(0, count)) {
        const left = size - this.#notes.notes.length;
        if (left === 0) return;
        const note = this.#notes.tell(about, fact);
        if (left > 1 && fact.changes.length > 0 && this.#random.chance(CHANGED_SHARE)) {
          this.#notes.tell(about, fact, { replaces: note });
        }
      }
    }
    if (this.#notes.notes.length >= size) return;
    throw new RangeError(`the grammar is too small for ${size} memories of a user`);
  }
}

/** Each question is in exactly one. */
export type FactCategory = 'plain' | 'paraphrase' | 'updated' | 'absent' | 'two memories' | 'distractor' | 'history';

export interface PlannedQuestion {
  readonly category: FactCategory;
  readonly about: Acquaintance;
  readonly fact: FactTemplate;
  /** The memory with the answer; undefined if none has it. */
  readonly note?: Note;
  /** Fixed where the memory was written to share no word with it. */
  readonly query?: string;
  /** Fixed where two memories or more are compared, counted or joined. */
  readonly combined?: CombinedQuestion;
  /** The earlier question that this one asks once more. */
  readonly repeats?: PlannedQuestion;
}
