import type { Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import type { HistoryMessage } from '../../../src/data/record-schemas.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { exchange } from '../../../src/data/generators/format-generated-records.ts';
import type { Curriculum, DocumentOptions, TrainingLayout } from './curriculum.ts';
import {
  drawRelation,
  factKey,
  USER,
  drawRelationValue,
  type Relation,
  type Subject,
} from '../../../src/data/generators/facts-and-relations.ts';
import type { Fact, QuestionKind } from './training-facts.ts';
import type { TrainingTask } from './training-tasks.ts';
import { formatAnswer } from '../../../src/data/generators/fill-template.ts';
import { question, statement } from '../../../src/data/generators/fact-wording.ts';

/** Share of questions answered by the conversation whose answer contradicts a memory. */
const OVERRIDES = 0.5;

/** One question with its history; the answer begins with a space, as models write it. */
export interface TrainingQuestion {
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  readonly answer: string;
  readonly kind: QuestionKind;
}

export interface QuestionScope {
  readonly grammar: Grammar;
  readonly facts: readonly Fact[];
  readonly tasks: readonly TrainingTask[];
  readonly subjects: readonly Subject[];
  readonly layout: TrainingLayout;
  readonly level: Curriculum;
  readonly options: DocumentOptions;
}

/** Draws the independent questions of one document by index: first those of the tasks, then one for each fact before any repeats. */
export function questionSource(random: SeededRandom, scope: QuestionScope): (place: number) => TrainingQuestion {
  const { grammar, facts, tasks, subjects, layout, level, options } = scope;
  const { heldOut, phrasing } = options;
  const known = new Set([
    ...facts.map((fact) => factKey(fact.subject, fact.relation)),
    ...tasks.flatMap(({ keys }) => keys),
  ]);
  const order = random.shuffled(facts);

  /** Draws a fact that no memory states, often one that a memory states of another subject. */
  function drawUnknown(): Pick<Fact, 'subject' | 'relation'> {
    for (;;) {
      const subject = random.pick(subjects);
      const near = subjects.length > 1 && random.chance(0.4);
      const relation = near ? random.pick(facts).relation : drawRelation(random, grammar, level.open, heldOut);
      if (!known.has(factKey(subject, relation))) return { subject, relation };
    }
  }

  function drawAbsent(): TrainingQuestion {
    const about = layout === 'none' && random.chance(0.5) ? random.pick(facts) : drawUnknown();
    const query = question(random, about.subject, about.relation, phrasing);
    return { history: [], query, answer: ` ${grammar.unknownAnswer}`, kind: 'absent' };
  }

  /** Draws a question that the conversation answers, whatever a memory says. */
  function drawToldNow(relation: Relation, before?: string): TrainingQuestion {
    let value: string;
    do value = drawRelationValue(random, relation, heldOut);
    while (value === before);
    const update = before !== undefined && random.chance(0.5);
    const told = statement(random, { subject: USER, relation, value }, phrasing, { firstPerson: true, update });
    return {
      history: exchange(told, random.pick(grammar.acknowledgements)),
      query: question(random, USER, relation, phrasing),
      answer: formatAnswer(grammar, value),
      kind: before === undefined ? 'history' : 'override',
    };
  }

  function drawAnsweredByHistory(): TrainingQuestion | undefined {
    const own = facts.filter(({ subject }) => subject === USER);
    if (own.length > 0 && random.chance(OVERRIDES)) {
      const { relation, value } = random.pick(own);
      return drawToldNow(relation, value);
    }
    const { relation } = drawUnknown();
    return known.has(factKey(USER, relation)) ? undefined : drawToldNow(relation);
  }

  function drawRemembered(place: number): TrainingQuestion {
    const fact = order[place % order.length]!;
    const asked = ({ subject, relation }: Fact): string => question(random, subject, relation, phrasing);
    let history: HistoryMessage[] = [];
    if (random.chance(0.08)) {
      const earlier = random.pick(facts);
      history = exchange(asked(earlier), formatAnswer(grammar, earlier.value).trim());
    }
    return { history, query: asked(fact), answer: formatAnswer(grammar, fact.value), kind: fact.kind };
  }

  function drawKind(place: number): TrainingQuestion {
    const roll = random.float();
    if (layout === 'none' || roll < level.absent) return drawAbsent();
    return (roll < level.absent + level.history ? drawAnsweredByHistory() : undefined) ?? drawRemembered(place);
  }

  return (place) => {
    const task = tasks[place];
    const drawn =
      task === undefined ? drawKind(place - tasks.length) : { ...task, answer: formatAnswer(grammar, task.value) };
    const chatter = random.chance(level.chatter) ? exchange(...random.pick(grammar.chatter)) : [];
    const { query, answer, kind } = drawn;
    const first = kind === 'reference' || random.chance(0.5);
    return { query, answer, kind, history: first ? [...chatter, ...drawn.history] : [...drawn.history, ...chatter] };
  };
}
