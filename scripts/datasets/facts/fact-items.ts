import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { HistoryMessage } from '../../../src/data/record-schemas.ts';
import { exchange } from '../../../src/data/generators/format-generated-records.ts';
import { sharedWords } from './content-words.ts';
import type { FactValue } from './fact-values.ts';
import type { PlannedQuestion } from './user-plan.ts';
import type { Note, UserNotes } from './user-notes.ts';
import { pronounAsks, worded, type Naming } from './wording.ts';
import { fillTemplate } from '../../../src/data/generators/fill-template.ts';

/** A question in words, with what answers it. */
export interface WordedQuestion extends PlannedQuestion {
  readonly query: string;
  /** Undefined if nothing answers it. */
  readonly gold?: FactValue;
  readonly answerPrefix?: string;
  readonly evidence: readonly Note[];
  readonly history: readonly HistoryMessage[];
}

const CHATTER_SHARE = 0.5;
const TRIES = 60;

/** Words the questions of one user, each differently. */
export class QuestionWriter {
  readonly #random: SeededRandom;
  readonly #notes: UserNotes;
  readonly #written = new Map<PlannedQuestion, WordedQuestion>();
  readonly #asked = new Set<string>();

  constructor(random: SeededRandom, notes: UserNotes) {
    this.#random = random;
    this.#notes = notes;
  }

  /** @throws RangeError if the question has no new words that keep its answer to themselves */
  write(planned: PlannedQuestion): WordedQuestion {
    for (let tries = 0; tries < TRIES; tries++) {
      const written = this.#worded(planned);
      const { query, gold, history } = written;
      const told = planned.note === undefined ? query : [query, ...history.map(({ content }) => content)].join('\n');
      if (this.#asked.has(query) || (gold !== undefined && this.#notes.holds(told, gold))) continue;
      this.#asked.add(query);
      this.#written.set(planned, written);
      return written;
    }
    throw new RangeError(`no wording of ${planned.about.subject.label}: ${planned.fact.relation}`);
  }

  #worded(planned: PlannedQuestion): WordedQuestion {
    const { category, about, fact, note } = planned;
    const { grammar } = this.#notes;
    if (planned.combined !== undefined) return { ...planned, ...planned.combined, history: [] };
    if (planned.repeats !== undefined) return this.#again(this.#written.get(planned.repeats)!);
    if (category === 'absent') return { ...planned, query: this.#ask(planned, 'mine'), evidence: [], history: [] };
    if (category === 'history') return note === undefined ? this.#told(planned) : this.#pointed(planned, note);
    const naming = category === 'two memories' ? 'mine' : about.naming;
    const evidence = category === 'two memories' ? [about.link!, note!] : [note!];
    return {
      ...planned,
      query: planned.query ?? (category === 'plain' ? this.#askInItsWords(planned, note!) : this.#ask(planned, naming)),
      gold: note!.value,
      answerPrefix: worded(grammar, fact.prefix, about.subject, naming === 'mine' ? 'yours' : naming),
      evidence,
      history: [],
    };
  }

  /** An earlier question, in nearly the same words, as people ask who forgot the answer. */
  #again(earlier: WordedQuestion): WordedQuestion {
    const q = earlier.query.replace(/[?？]$/, '');
    const l = q.charAt(0).toLowerCase() + q.slice(1);
    return { ...earlier, query: fillTemplate(this.#random.pick(this.#notes.grammar.repeats), { q, l }) };
  }

  /** A question about a fact that only the conversation says. */
  #told(planned: PlannedQuestion): WordedQuestion {
    const { about, fact } = planned;
    const { grammar } = this.#notes;
    const gold = this.#notes.drawUntold(about.subject, fact);
    const said = worded(grammar, this.#random.pick(fact.says), about.subject, 'mine', gold.text);
    const telling = exchange(said, this.#random.pick(grammar.acknowledgements));
    const more = this.#chatter();
    return {
      ...planned,
      query: this.#ask(planned, 'mine'),
      gold,
      answerPrefix: worded(grammar, fact.prefix, about.subject, 'yours'),
      evidence: [],
      history: this.#random.chance(0.5) ? [...more, ...telling] : [...telling, ...more],
    };
  }

  /** A question with a pronoun, about a subject that the conversation names. */
  #pointed(planned: PlannedQuestion, note: Note): WordedQuestion {
    const { about, fact } = planned;
    const { grammar } = this.#notes;
    const [user, assistant] = this.#random.pick(grammar.mentions);
    const mention = exchange(worded(grammar, user, about.subject, 'mine'), assistant);
    return {
      ...planned,
      query: worded(grammar, this.#random.pick(pronounAsks(grammar, fact, about.subject)), about.subject, 'pronoun'),
      gold: note.value,
      answerPrefix: worded(grammar, fact.prefix, about.subject, 'pronoun'),
      evidence: [note],
      history: [...this.#chatter(), ...mention],
    };
  }

  #ask({ about, fact }: PlannedQuestion, naming: Naming): string {
    return worded(this.#notes.grammar, this.#random.pick(fact.asks), about.subject, naming);
  }

  /** One of the questions that share most words with the memory. */
  #askInItsWords({ about, fact }: PlannedQuestion, { content }: Note): string {
    const { grammar } = this.#notes;
    const asked = fact.asks.map((ask) => worded(grammar, ask, about.subject, about.naming));
    const byShared = Map.groupBy(asked, (query) => sharedWords(grammar, query, content).length);
    return this.#random.pick(byShared.get(Math.max(...byShared.keys()))!);
  }

  #chatter(): HistoryMessage[] {
    return this.#random.chance(CHATTER_SHARE) ? exchange(...this.#random.pick(this.#notes.grammar.chatter)) : [];
  }
}
