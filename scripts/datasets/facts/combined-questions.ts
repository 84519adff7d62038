import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { factsOf, type FactGrammar, type FactTemplate, type Subject, type Topic, valueKind } from './fact-grammar.ts';
import type { FactValue } from './fact-values.ts';
import type { Acquaintance, Note, UserNotes, Wanted } from './user-notes.ts';
import type { WordedQuestion } from './fact-items.ts';
import type { PlannedQuestion } from './user-plan.ts';
import { worded } from './wording.ts';
import { fillTemplate } from '../../../src/data/generators/fill-template.ts';

/** A question whose words, answer and evidence follow from the memories that it combines. */
export type CombinedQuestion = Pick<WordedQuestion, 'query' | 'gold' | 'answerPrefix' | 'evidence'>;

/** How two memories or more are combined. */
export const combinations = ['compare', 'same day', 'count'] as const;

/** A relation of a topic, and subjects that nothing is known of and that have it. */
interface Choice {
  readonly topic: Topic;
  readonly fact: FactTemplate;
  readonly subjects: readonly Subject[];
}

/** Writes memories that must be combined, and the question that combines them. */
export class CombinedQuestions {
  readonly #random: SeededRandom;
  readonly #notes: UserNotes;
  readonly #grammar: FactGrammar;

  constructor(random: SeededRandom, notes: UserNotes) {
    this.#random = random;
    this.#notes = notes;
    this.#grammar = notes.grammar;
  }

  plan(combination: (typeof combinations)[number]): PlannedQuestion {
    if (combination === 'compare') return this.#compare();
    return combination === 'count' ? this.#count() : this.#sameDay();
  }

  /** Of two subjects the one with the higher value, or the lower. */
  #compare(): PlannedQuestion {
    const { topic, fact, subjects } = this.#choose(2, ({ most, least }) => most ?? least);
    const notes = subjects.slice(0, 2).map((subject) => this.#tell(topic, fact, subject));
    this.#closeTo(topic, fact);
    const { most, least } = fact.combined!;
    const rising = notes.toSorted((a, b) => this.#rank(a) - this.#rank(b));
    return this.#question(most ?? least!, rising.at(most === undefined ? 0 : -1)!, notes);
  }

  /** The subject whose day is that of another, between one with another day. */
  #sameDay(): PlannedQuestion {
    const { topic, fact, subjects } = this.#choose(3, ({ sameDay }) => sameDay);
    const other = this.#choose(1, ({ day }) => day, topic);
    const day = worded(this.#grammar, other.fact.combined!.day!, other.subjects[0]!, 'mine');
    // "教练" is a part of "驾校教练".
    const [answer, decoy] = subjects.filter((subject) => !day.includes(shortName(subject)));
    const first = this.#tell(other.topic, other.fact, other.subjects[0]!);
    const second = this.#tell(topic, fact, answer!, { value: first.value });
    this.#tell(topic, fact, decoy!);
    return this.#question(fillTemplate(fact.combined!.sameDay!, { d: day }), second, [first, second]);
  }

  /** How many of three subjects have their day in a month: two, or all three. */
  #count(): PlannedQuestion {
    const { topic, fact, subjects } = this.#choose(3, ({ inMonth }) => inMonth);
    const count = this.#random.int(2, 3);
    // The question must not hold the answer: none about two in February, the month 2.
    const first = this.#tell(topic, fact, subjects[0]!, { suits: (value) => !monthOf(value).includes(String(count)) });
    const month = monthOf(first.value);
    const more = subjects.slice(1, 3).map((subject, index) => {
      const isIn = index + 1 < count;
      return this.#tell(topic, fact, subject, { suits: (value) => (monthOf(value) === month) === isIn });
    });
    this.#closeTo(topic, fact);
    const evidence = [first, ...more.slice(0, count - 1)];
    const planned = this.#question(fillTemplate(fact.combined!.inMonth!, { m: month }), first, evidence);
    const gold = { text: this.#grammar.counts[count]!, accepted: [String(count)] };
    return { ...planned, combined: { ...planned.combined!, gold, answerPrefix: this.#grammar.answerPrefixes.count } };
  }

  /** @param answer the memory whose subject is the answer */
  #question(query: string, answer: Note, evidence: readonly Note[]): PlannedQuestion {
    const gold = { text: shortName(answer.about.subject), accepted: [] };
    const answerPrefix = this.#grammar.answerPrefixes.subject;
    const { about, fact } = answer;
    return { category: 'two memories', about, fact, note: answer, combined: { query, gold, evidence, answerPrefix } };
  }

  /** A relation that can be combined so, with subjects that are new. @throws RangeError where none is left */
  #choose(
    count: number,
    template: (combined: NonNullable<FactTemplate['combined']>) => string | undefined,
    except?: Topic,
  ): Choice {
    const topics = this.#random.shuffled(this.#grammar.topics.filter((topic) => topic !== except));
    for (const topic of topics) {
      for (const fact of this.#random.shuffled(topic.facts)) {
        if (fact.combined === undefined || template(fact.combined) === undefined) continue;
        if (topic.subjects.some((subject) => !this.#notes.isFree(subject, fact))) continue;
        const isNew = (subject: Subject): boolean =>
          this.#notes.isNew(subject) && factsOf(topic, subject).includes(fact);
        const subjects = this.#random.shuffled(topic.subjects.filter(isNew));
        if (subjects.length >= count) return { topic, fact, subjects };
      }
    }
    throw new RangeError('no relation is left that can be combined');
  }

  #tell(topic: Topic, fact: FactTemplate, subject: Subject, wanted: Wanted = {}): Note {
    const about: Acquaintance = this.#notes.meet(topic, subject);
    return this.#notes.tell(about, fact, wanted);
  }

  /** Nobody else of the topic gets the fact: the answer would change. */
  #closeTo(topic: Topic, fact: FactTemplate): void {
    for (const subject of topic.subjects) this.#notes.reserve(subject, fact);
  }

  /** The place of a value among those of its kind. */
  #rank({ fact, about, value }: Note): number {
    const numbers = (value.text.match(/\d+/g) ?? []).map(Number);
    const kind = valueKind(fact, about.subject);
    if (kind !== 'date' && kind !== 'monthYear') return numbers[0]!;
    if (this.#grammar.language === 'zh') return numbers[0]! * 100 + numbers[1]!;
    const month = this.#grammar.values['month']!.indexOf(monthOf(value)) + 1;
    return kind === 'date' ? month * 100 + numbers[0]! : numbers[0]! * 100 + month;
  }
}

/** The month of a date: its name, or in Chinese its number with the word for month. */
function monthOf({ text }: FactValue): string {
  return /^\d+月/.exec(text)?.[0] ?? text.split(' ')[0]!;
}

/** What a subject is called in an answer: "yoga class" for "my yoga class". */
function shortName({ label }: Subject): string {
  return label.replace(/^(my |the |我家|我)/, '');
}
