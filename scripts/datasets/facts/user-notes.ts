import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { normalise } from '../../../src/data/normalise-text.ts';
import { sharedWords } from './content-words.ts';
import { valueKind, type FactGrammar, type FactTemplate, type Subject, type Topic } from './fact-grammar.ts';
import type { DrawValue, FactValue } from './fact-values.ts';
import { worded, type Naming } from './wording.ts';

/** A subject that a user has told about, under a name of its own or not. */
export interface Acquaintance {
  readonly topic: Topic;
  readonly subject: Subject;
  readonly naming: Extract<Naming, 'mine' | object>;
  /** The memory that says the name; undefined without a name. */
  readonly link?: Note;
}

/** One memory before it has an id: a fact, in up to three sentences. */
export interface Note {
  readonly about: Acquaintance;
  readonly fact: FactTemplate;
  readonly value: FactValue;
  readonly content: string;
  /** Place in the user's time, 0 to 1. */
  readonly at: number;
  readonly replaces?: Note;
}

export interface Wanted {
  /** Questions that share no content word with it. */
  readonly apartFrom?: string;
  readonly replaces?: Note;
  /** The value, which another memory has too. */
  readonly value?: FactValue;
  /** Values that suit. */
  readonly suits?: (value: FactValue) => boolean;
  /** Sentences of small talk; default: none to two, drawn. */
  readonly talk?: number;
}

const TRIES = 200;
const TWO_SENTENCES = 0.32;
const THREE_SENTENCES = 0.13;
const TALK_FIRST = 0.4;
/** Small talk that points back at its subject cannot open a memory. */
const POINTS_BACK = /\{|\b(it|there|that)\b|它|他|她|那/i;

/** Everything that one user has told, such that no value occurs in two memories but as a name. */
export class UserNotes {
  readonly grammar: FactGrammar;
  readonly notes: Note[] = [];
  readonly #random: SeededRandom;
  readonly #draw: DrawValue;
  readonly #acquaintances = new Map<string, Acquaintance>();
  readonly #unknown = new Set<string>();
  readonly #reserved = new Set<string>();
  /** Normal forms, a space at both ends. */
  readonly #contents: string[] = [];
  readonly #golds = new Map<string, Acquaintance | undefined>();
  readonly #talk = new Map<string, string[]>();

  constructor(random: SeededRandom, grammar: FactGrammar, draw: DrawValue) {
    this.#random = random;
    this.grammar = grammar;
    this.#draw = draw;
  }

  /** True if nothing is known of a subject, and nothing known can be taken for it. */
  isNew({ label, alt }: Subject): boolean {
    if (this.#acquaintances.has(label) || this.#unknown.has(label)) return false;
    return ![...this.#acquaintances.values()].some(({ subject }) => subject.alt !== undefined && subject.alt === alt);
  }

  neverMeet({ label }: Subject): void {
    this.#unknown.add(label);
  }

  /** True if a fact was neither told nor excluded. */
  isFree({ label }: Subject, { relation }: FactTemplate): boolean {
    return !this.#reserved.has(`${label}|${relation}`);
  }

  /** Excludes a fact from what is told later. */
  reserve({ label }: Subject, { relation }: FactTemplate): void {
    this.#reserved.add(`${label}|${relation}`);
  }

  /** Introduces a subject as the user names it. */
  meet(topic: Topic, subject: Subject): Acquaintance {
    const about: Acquaintance = { topic, subject, naming: 'mine' };
    this.#acquaintances.set(subject.label, about);
    return about;
  }

  /** Introduces a subject by a memory that says its name, under which all later memories know it. */
  meetByName(topic: Topic, subject: Subject): Acquaintance & { readonly link: Note } {
    const fact = topic.facts.find(({ relation }) => relation === topic.link?.relation);
    if (fact === undefined) throw new RangeError(`topic ${topic.id} has no link`);
    const link = this.tell(this.meet(topic, subject), fact);
    const name = worded(this.grammar, topic.link!.as, subject, 'mine', link.value.text);
    const about = { topic, subject, naming: { name }, link };
    this.#acquaintances.set(subject.label, about);
    for (const form of this.#forms(link.value)) this.#golds.set(form, about);
    return about;
  }

  /** Adds a memory. @throws RangeError if no wording of no value fits */
  tell(about: Acquaintance, fact: FactTemplate, wanted: Wanted = {}): Note {
    const { apartFrom, replaces, talk } = wanted;
    const { subject, naming } = about;
    this.reserve(subject, fact);
    for (let tries = 0; tries < TRIES; tries++) {
      const value = wanted.value ?? this.#drawValue(subject, fact, wanted.suits);
      const template = this.#random.pick(replaces === undefined ? fact.says : fact.changes);
      const content = this.#withTalk(about, worded(this.grammar, template, subject, naming, value.text), talk);
      if (apartFrom !== undefined && sharedWords(this.grammar, apartFrom, content).length > 0) continue;
      if (!this.#canSay(content, about, wanted.value)) continue;
      const start = replaces?.at ?? 0;
      const at = start + (1 - start) * (replaces === undefined ? this.#random.float() : 1 - this.#random.float());
      const note: Note = { about, fact, value, content, at, ...(replaces === undefined ? {} : { replaces }) };
      this.notes.push(note);
      this.#contents.push(this.#form(content));
      for (const form of this.#forms(value)) this.#golds.set(form, undefined);
      return note;
    }
    throw new RangeError(`no memory of ${subject.label}: ${fact.relation} in ${TRIES} draws`);
  }

  /** Draws the value of a fact that no memory will ever hold. */
  drawUntold(subject: Subject, fact: FactTemplate): FactValue {
    this.reserve(subject, fact);
    const value = this.#drawValue(subject, fact);
    for (const form of this.#forms(value)) this.#golds.set(form, undefined);
    return value;
  }

  holds(text: string, value: FactValue): boolean {
    const form = this.#form(text);
    return this.#forms(value).some((gold) => form.includes(gold));
  }

  #drawValue(subject: Subject, fact: FactTemplate, suits: (value: FactValue) => boolean = () => true): FactValue {
    return this.#draw(fact.relation, valueKind(fact, subject), (value) => {
      if (!suits(value)) return false;
      const forms = this.#forms(value);
      return !forms.some((form) => this.#contents.some((content) => content.includes(form)));
    });
  }

  /** True if a text holds no earlier gold but the name of its own subject and a value that it shares. */
  #canSay(content: string, { subject }: Acquaintance, shared?: FactValue): boolean {
    const form = this.#form(content);
    const allowed = new Set(shared === undefined ? [] : this.#forms(shared));
    for (const [gold, owner] of this.#golds) {
      if (!allowed.has(gold) && owner?.subject.label !== subject.label && form.includes(gold)) return false;
    }
    return true;
  }

  #withTalk({ topic, subject }: Acquaintance, statement: string, wanted?: number): string {
    const count = wanted ?? this.#drawTalk();
    const sentences = [statement];
    for (let added = 0; added < count; added++) {
      const template = this.#nextTalk(topic, subject);
      const said = worded(this.grammar, template, subject, 'pronoun');
      const first = !POINTS_BACK.test(template) && this.#random.chance(TALK_FIRST);
      if (first) sentences.unshift(said);
      else sentences.push(said);
    }
    return sentences.join(this.grammar.joiner);
  }

  /** How many sentences of small talk a memory has. */
  #drawTalk(): number {
    const draw = this.#random.float();
    return draw < THREE_SENTENCES ? 2 : draw < THREE_SENTENCES + TWO_SENTENCES ? 1 : 0;
  }

  /** Small talk about a subject, without repetition until all of it is said. */
  #nextTalk(topic: Topic, { label }: Subject): string {
    const left = this.#talk.get(label) ?? [];
    if (left.length === 0) left.push(...this.#random.shuffled(topic.talk));
    this.#talk.set(label, left);
    return left.pop()!;
  }

  #form(text: string): string {
    return ` ${normalise(text, this.grammar.language)} `;
  }

  #forms({ text, accepted }: FactValue): string[] {
    return [text, ...accepted].map((form) => this.#form(form));
  }
}
