import type { Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import type { HistoryMessage } from '../../../src/data/record-schemas.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { exchange } from '../../../src/data/generators/format-generated-records.ts';
import type { DocumentOptions, TaskKind } from './curriculum.ts';
import {
  drawOpenAttribute,
  drawPreference,
  drawRelation,
  factKey,
  namesNoPerson,
  openRelation,
  USER,
  drawRelationValue,
  relationTopic,
  type Relation,
  type Subject,
} from '../../../src/data/generators/facts-and-relations.ts';
import type { QuestionKind, TrainingLine } from './training-facts.ts';
import { drawValue } from '../../../src/data/generators/draw-value.ts';
import { formatAnswer, fillTemplate } from '../../../src/data/generators/fill-template.ts';
import {
  subjectWords,
  question,
  drawFirstPerson,
  statement,
  fillForSubject,
} from '../../../src/data/generators/fact-wording.ts';

/** A question that needs several memories, or one memory and the conversation, with its memories. */
export interface TrainingTask {
  readonly lines: readonly TrainingLine[];
  readonly kind: QuestionKind;
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  readonly value: string;
  /** Keys (`factKey`) of the facts in the memories. */
  readonly keys: readonly string[];
}

/** A task as it is drawn: without history, and of the kind that was asked for, unless it says otherwise. */
type DrawnTask = Omit<TrainingTask, 'kind' | 'history'> & Partial<TrainingTask>;

interface Scope {
  readonly random: SeededRandom;
  readonly grammar: Grammar;
  readonly options: DocumentOptions;
}

const MAX_LISTED = 4;

function role({ random, grammar }: Scope): Subject & { readonly kind: 'role' } {
  return { kind: 'role', name: random.pick(grammar.roles) };
}

function person({ random, grammar, options }: Scope): Subject & { readonly kind: 'named' } {
  return { kind: 'named', name: drawValue(random, grammar, 'name', options.heldOut) };
}

function someone(scope: Scope): Subject {
  const roll = scope.random.float();
  return roll < 0.6 ? USER : roll < 0.8 ? role(scope) : person(scope);
}

function says(scope: Scope, subject: Subject, relation: Relation, value: string): TrainingLine {
  const { random, options } = scope;
  return { at: random.float(), text: statement(random, { subject, relation, value }, options.phrasing) };
}

/** Words a template of the grammar about a subject, by default the user, in the first person unless `own` says otherwise. */
function worded(
  { random, grammar }: Scope,
  templates: readonly string[],
  slots: Readonly<Record<string, string>> = {},
  subject: Subject = USER,
  own: () => boolean = () => true,
): string {
  const template = random.pick(templates);
  return fillForSubject(template, { grammar, subject, own: own() }, slots);
}

/** Draws a task of two memories: "My sister is called Anna." and "Anna's dog is Rex." answer "What is my sister's dog called?". */
function join(scope: Scope): DrawnTask {
  const { random, grammar, options } = scope;
  const relative = role(scope);
  const known = person(scope);
  const slots = { r: relative.name, n: known.name };
  const bridges = grammar.tasks.bridges[options.phrasing];
  const text = worded(scope, bridges, slots, USER, () => drawFirstPerson(random, USER));
  const relation = drawRelation(random, grammar, 0.4, options.heldOut);
  const value = drawRelationValue(random, relation, options.heldOut);
  return {
    lines: [{ at: random.float(), text }, says(scope, known, relation, value)],
    query: question(random, relative, relation, options.phrasing),
    value,
    keys: [factKey(relative, relation), factKey(known, relation)],
  };
}

/** Draws several values of one kind, each in its own memory, in order of creation. */
function list(scope: Scope): DrawnTask {
  const { random, grammar, options } = scope;
  const topic = random.pick(grammar.tasks.lists);
  const subject = someone(scope);
  const places = Array.from({ length: random.int(2, MAX_LISTED) }, () => random.float()).sort((a, b) => a - b);
  const values = places.map(() => drawValue(random, grammar, topic.value, options.heldOut));
  const own = (): boolean => drawFirstPerson(random, subject);
  const lines = places.map((at, index): TrainingLine => {
    return { at, text: worded(scope, topic.statements[options.phrasing], { v: values[index]! }, subject, own) };
  });
  const { comma, and } = grammar.tasks.listing;
  return {
    lines,
    query: worded(scope, topic.questions[options.phrasing], {}, subject),
    value: `${values.slice(0, -1).join(comma)}${and}${values.at(-1)!}`,
    keys: [],
  };
}

/**
 * Draws dated things of the user, in different months, and questions for the earlier one of each two.
 * @param spelled share of the questions that name the dates
 */
function datedThings(scope: Scope, count: number, spelled: number): DrawnTask[] {
  const { random, grammar, options } = scope;
  const template = grammar.openRelations.find(({ value }) => value === 'date')!;
  const months = random.shuffled(grammar.months.map((_month, index) => index)).slice(0, count);
  const things = months.map((month) => {
    const attribute = drawOpenAttribute(random, grammar, options.heldOut);
    const value = fillTemplate(grammar.date, { m: grammar.months[month]!, d: String(random.int(1, 28)) });
    const relation = openRelation(grammar, template, attribute);
    return { month, value, attribute: attribute.attribute, relation, line: says(scope, USER, relation, value) };
  });
  const pairs = things.flatMap((one, place) => things.slice(place + 1).map((other) => [one, other] as const));
  return pairs.map((pair, place) => {
    const dated = spelled > 0 && random.chance(spelled);
    const [a, b] = pair.map(({ attribute, value }) => {
      const thing = fillTemplate(grammar.owned, { p: grammar.voices.my, np: attribute });
      return dated ? fillTemplate(grammar.tasks.dated, { thing, date: value }) : thing;
    });
    return {
      kind: 'order',
      lines: place === 0 ? things.map(({ line }) => line) : [],
      query: worded(scope, grammar.tasks.order[options.phrasing], { a: a!, b: b! }),
      value: pair[0].month < pair[1].month ? pair[0].attribute : pair[1].attribute,
      keys: place === 0 ? things.map(({ relation }) => factKey(USER, relation)) : [],
    };
  });
}

/** Draws a question that a preference decides between two things. */
function choice(scope: Scope): DrawnTask {
  const { random, grammar, options } = scope;
  const relation = drawPreference(random, grammar);
  const subject = someone(scope);
  const [value, other] = [0, 1].map(() => drawRelationValue(random, relation, options.heldOut));
  const [x, y] = random.shuffled([value!, other!]);
  return {
    lines: [says(scope, subject, relation, value!)],
    query: worded(scope, grammar.tasks.choices[options.phrasing], { x: x!, y: y! }, subject),
    value: value!,
    keys: [factKey(subject, relation)],
  };
}

/** Draws two people with one name, distinguished by their origin. */
function shared(scope: Scope): DrawnTask {
  const { random, grammar, options } = scope;
  const name = drawValue(random, grammar, 'name', options.heldOut);
  const people = [0, 1].map((): Subject => {
    const origin = drawValue(random, grammar, 'place', options.heldOut);
    return { kind: 'named', name: fillTemplate(grammar.tasks.sharedName, { n: name, o: origin }) };
  });
  const relation = drawRelation(random, grammar, 0.4, options.heldOut);
  const values = people.map(() => drawRelationValue(random, relation, options.heldOut));
  return {
    lines: people.map((subject, index) => says(scope, subject, relation, values[index]!)),
    query: question(random, people[0]!, relation, options.phrasing),
    value: values[0]!,
    keys: people.map((subject) => factKey(subject, relation)),
  };
}

/** Draws a question that refers to the one before: "And my brother's?", or "And their car?", after a question that was answered. */
function reference(scope: Scope): DrawnTask {
  const { random, grammar, options } = scope;
  const relations = [0, 1].map(() => drawRelation(random, grammar, 0.3, options.heldOut));
  const sameSubject = random.chance(0.5) && relations[0]!.attribute !== relations[1]!.attribute;
  const first = sameSubject ? someone(scope) : random.chance(0.5) ? USER : role(scope);
  const second = sameSubject ? first : random.chance(0.5) ? person(scope) : role(scope);
  const [before, asked] = sameSubject ? relations : [relations[0], relations[0]];
  const values = [before!, asked!].map((relation) => drawRelationValue(random, relation, options.heldOut));
  const template = random.pick(grammar.tasks[sameSubject ? 'sameSubject' : 'sameAttribute'][options.phrasing]);
  const t = first.kind === 'user' ? grammar.voices.my : grammar.voices.theirs;
  const slots = { t, np: asked!.attribute, p: subjectWords(grammar, second, true).possessive };
  return {
    lines: [says(scope, first, before!, values[0]!), says(scope, second, asked!, values[1]!)],
    history: exchange(question(random, first, before!, options.phrasing), formatAnswer(grammar, values[0]!).trim()),
    query: fillForSubject(template, { grammar, subject: USER, own: true }, slots),
    value: values[1]!,
    keys: [factKey(first, before!), factKey(second, asked!)],
  };
}

/** Draws another relation than the asked one, after which a pronoun can mean its subject only. */
function drawUnlike({ random, grammar, options }: Scope, asked: Relation): Relation {
  for (;;) {
    const relation = drawRelation(random, grammar, 0, options.heldOut);
    if (relationTopic(relation) !== relationTopic(asked) && namesNoPerson(relation)) return relation;
  }
}

/** Draws coreference: "Anna is a baker." "She lives in Velmor.", where only the memory before resolves "she"; and a second pair. */
function coreference(scope: Scope): DrawnTask[] {
  const { random, grammar, options } = scope;
  const people = [person(scope), person(scope)];
  const asked = drawRelation(random, grammar, 0.3, options.heldOut);
  const told = people.map((who) => {
    const at = random.float();
    const first = drawUnlike(scope, asked);
    const value = drawRelationValue(random, asked, options.heldOut);
    const pronoun: Subject = { kind: 'pronoun', ...random.pick(grammar.voices.pronouns) };
    const lines = [
      { ...says(scope, who, first, drawRelationValue(random, first, options.heldOut)), at },
      { ...says(scope, pronoun, asked, value), at: at + Number.EPSILON },
    ];
    return { who, first, value, lines };
  });
  return told.map(({ who, first, value, lines }) => ({
    lines,
    query: question(random, who, asked, options.phrasing),
    value,
    keys: [factKey(who, first), factKey(who, asked)],
  }));
}

const tasks: Readonly<Record<TaskKind, (scope: Scope) => DrawnTask | DrawnTask[]>> = {
  ...{ join, list, choice, shared, reference, coreference },
  /** A question for the earlier of two dates. */
  order: (scope) => datedThings(scope, 2, 0),
  /** Such a question for every two of four dates, half of them with both dates in the question. */
  dates: (scope) => datedThings(scope, 4, 0.5),
};

/** Draws `count` tasks, or one more, of the kinds, repeated kinds being more likely; no two state the same fact. */
export function drawTasks(
  random: SeededRandom,
  grammar: Grammar,
  { count, kinds }: { readonly count: number; readonly kinds: readonly TaskKind[] },
  options: DocumentOptions,
): TrainingTask[] {
  const drawn: TrainingTask[] = [];
  const told = new Set<string>();
  while (drawn.length < count) {
    const kind = random.pick(kinds);
    const made = [tasks[kind]({ random, grammar, options })].flat();
    const keys = made.flatMap((task) => task.keys);
    const ambiguous = new Set(keys).size < keys.length || new Set(made.map(({ query }) => query)).size < made.length;
    if (ambiguous || keys.some((key) => told.has(key))) continue;
    for (const key of keys) told.add(key);
    drawn.push(...made.map((task) => ({ history: [], kind: kind as QuestionKind, ...task })));
  }
  return drawn;
}
