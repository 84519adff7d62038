import type { Grammar } from '../../../src/base/grammar.ts';
import type { HistoryMessage } from '../../../src/data/schema.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { answerIn, exchange } from '../../../src/data/generators/wording.ts';
import type { Curriculum, DocumentOptions, TrainingLayout } from './curriculum.ts';
import {
  drawRelation,
  factKey,
  question,
  statement,
  USER,
  drawRelationValue,
  type Relation,
  type Subject,
} from '../../../src/data/generators/relations.ts';
import type { Fact, QuestionKind } from './training-facts.ts';
import type { TrainingTask } from './training-tasks.ts';

/** Share of questions answered by the conversation whose answer contradicts a memory. */
const OVERRIDES = 0.5;

/** One question with its history; the answer begins with a space, as models write it. */
export interface TrainingQuestion {
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  readonly answer: string;
  readonly kind: QuestionKind;
}

/** Scope of the questions of one document. */
export interface QuestionScope {
  readonly grammar: Grammar;
  readonly facts: readonly Fact[];
  readonly tasks: readonly TrainingTask[];
  readonly subjects: readonly Subject[];
  readonly layout: TrainingLayout;
  readonly level: Curriculum;
  readonly options: DocumentOptions;
}

/** Draws the independent questions of one document. */
export class QuestionSource {
  readonly #random: SeededRandom;
  readonly #scope: QuestionScope;
  readonly #known: ReadonlySet<string>;
  readonly #order: readonly Fact[];

  constructor(random: SeededRandom, scope: QuestionScope) {
    this.#random = random;
    this.#scope = scope;
    this.#known = new Set([
      ...scope.facts.map((fact) => factKey(fact.subject, fact.relation)),
      ...scope.tasks.flatMap(({ keys }) => keys),
    ]);
    this.#order = random.shuffled(scope.facts);
  }

  /** Draws the question at an index: first those of the tasks, then one for each fact before any fact repeats. */
  draw(place: number): TrainingQuestion {
    const random = this.#random;
    const { level, grammar, tasks } = this.#scope;
    const task = tasks[place];
    const drawn =
      task === undefined ? this.#drawKind(place - tasks.length) : { ...task, answer: answerIn(grammar, task.value) };
    const chatter = random.chance(level.chatter) ? exchange(...random.pick(grammar.chatter)) : [];
    const { query, answer, kind } = drawn;
    const first = kind === 'reference' || random.chance(0.5);
    return { query, answer, kind, history: first ? [...chatter, ...drawn.history] : [...drawn.history, ...chatter] };
  }

  #drawKind(place: number): TrainingQuestion {
    const { level, layout } = this.#scope;
    const roll = this.#random.float();
    if (layout === 'none' || roll < level.absent) return this.#absent();
    return (roll < level.absent + level.history ? this.#answeredByHistory() : undefined) ?? this.#remembered(place);
  }

  #absent(): TrainingQuestion {
    const random = this.#random;
    const { facts, layout, options } = this.#scope;
    const about = layout === 'none' && random.chance(0.5) ? random.pick(facts) : this.#unknownFact();
    const query = question(random, about.subject, about.relation, options.phrasing);
    return { history: [], query, answer: ` ${this.#scope.grammar.unknownAnswer}`, kind: 'absent' };
  }

  #answeredByHistory(): TrainingQuestion | undefined {
    const random = this.#random;
    const { facts } = this.#scope;
    const own = facts.filter(({ subject }) => subject === USER);
    if (own.length > 0 && random.chance(OVERRIDES)) {
      const { relation, value } = random.pick(own);
      return this.#toldNow(relation, value);
    }
    const { relation } = this.#unknownFact();
    if (this.#known.has(factKey(USER, relation))) return undefined;
    return this.#toldNow(relation);
  }

  /** Draws a question that the conversation answers, whatever a memory says. */
  #toldNow(relation: Relation, before?: string): TrainingQuestion {
    const random = this.#random;
    const { grammar, options } = this.#scope;
    const { heldOut, phrasing } = options;
    let value: string;
    do value = drawRelationValue(random, relation, heldOut);
    while (value === before);
    const update = before !== undefined && random.chance(0.5);
    const told = statement(random, { subject: USER, relation, value }, phrasing, { firstPerson: true, update });
    return {
      history: exchange(told, random.pick(grammar.acknowledgements)),
      query: question(random, USER, relation, phrasing),
      answer: answerIn(grammar, value),
      kind: before === undefined ? 'history' : 'override',
    };
  }

  #remembered(place: number): TrainingQuestion {
    const random = this.#random;
    const { facts, options, grammar } = this.#scope;
    const fact = this.#order[place % this.#order.length]!;
    const asked = ({ subject, relation }: Fact): string => question(random, subject, relation, options.phrasing);
    let history: HistoryMessage[] = [];
    if (random.chance(0.08)) {
      const earlier = random.pick(facts);
      history = exchange(asked(earlier), answerIn(grammar, earlier.value).trim());
    }
    return { history, query: asked(fact), answer: answerIn(grammar, fact.value), kind: fact.kind };
  }

  /** Draws a fact that no memory states, often one that a memory states of another subject. */
  #unknownFact(): { readonly subject: Subject; readonly relation: Relation } {
    const random = this.#random;
    const { grammar, facts, subjects, level, options } = this.#scope;
    for (;;) {
      const subject = random.pick(subjects);
      const near = subjects.length > 1 && random.chance(0.4);
      const relation = near ? random.pick(facts).relation : drawRelation(random, grammar, level.open, options.heldOut);
      if (!this.#known.has(factKey(subject, relation))) return { subject, relation };
    }
  }
}
