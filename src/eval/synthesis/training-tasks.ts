import type { Grammar } from '../../config/grammar.ts';
import type { HistoryMessage } from '../../systems/prompt/segments.ts';
import type { SeededRandom } from '../random.ts';
import { answerIn } from './answer-text.ts';
import type { DocumentOptions } from './curriculum.ts';
import { exchange } from './exchange.ts';
import {
  drawOpenAttribute,
  drawPreference,
  drawRelation,
  factKey,
  openRelation,
  possessiveOf,
  question,
  speaksOfOwn,
  statement,
  USER,
  valueOf,
  worded,
  type Relation,
  type Subject,
} from './relations.ts';
import type { QuestionKind, TrainingLine } from './training-facts.ts';
import { drawValue } from './values.ts';

/** A question that takes more than one memory, or one memory and a word of the conversation, and its memories. */
export interface TrainingTask {
  readonly lines: readonly TrainingLine[];
  readonly kind: QuestionKind;
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  readonly value: string;
  /** What the memories tell, as `factKey` names it. */
  readonly keys: readonly string[];
}

interface Scope {
  readonly random: SeededRandom;
  readonly grammar: Grammar;
  readonly options: DocumentOptions;
}

const MOST_LISTED = 4;

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
  return { at: random.float(), text: statement(random, subject, relation, value, options.phrasing) };
}

/** "My sister is called Anna." and "Anna's dog is Rex." answer "What is my sister's dog called?". */
function join(scope: Scope): TrainingTask {
  const { random, grammar, options } = scope;
  const relative = role(scope);
  const known = person(scope);
  const bridge = random.pick(grammar.tasks.bridges[options.phrasing]);
  const text = worded(grammar, bridge, USER, speaksOfOwn(random, USER), {
    r: relative.name,
    n: known.name,
  });
  const relation = drawRelation(random, grammar, 0.4, options.heldOut);
  const value = valueOf(random, relation, options.heldOut);
  return {
    kind: 'join',
    lines: [{ at: random.float(), text }, says(scope, known, relation, value)],
    history: [],
    query: question(random, relative, relation, options.phrasing),
    value,
    keys: [factKey(relative, relation), factKey(known, relation)],
  };
}

/** Several values of one kind, each in a memory of its own, in the order of their making. */
function list(scope: Scope): TrainingTask {
  const { random, grammar, options } = scope;
  const topic = random.pick(grammar.tasks.lists);
  const subject = someone(scope);
  const places = Array.from({ length: random.int(2, MOST_LISTED) }, () => random.float()).sort((a, b) => a - b);
  const values = places.map(() => drawValue(random, grammar, topic.value, options.heldOut));
  const lines = places.map((at, index): TrainingLine => {
    const template = random.pick(topic.statements[options.phrasing]);
    return { at, text: worded(grammar, template, subject, speaksOfOwn(random, subject), { v: values[index]! }) };
  });
  const { comma, and } = grammar.tasks.listing;
  return {
    kind: 'list',
    lines,
    history: [],
    query: worded(grammar, random.pick(topic.questions[options.phrasing]), subject, true, {}),
    value: `${values.slice(0, -1).join(comma)}${and}${values.at(-1)!}`,
    keys: [],
  };
}

/** Which of two things comes earlier in the year, told by their dates. */
function order(scope: Scope): TrainingTask {
  const { random, grammar, options } = scope;
  const template = grammar.openRelations.find(({ value }) => value === 'date')!;
  const months = random.shuffled(grammar.months.map((_month, index) => index)).slice(0, 2);
  const things = months.map((month) => {
    const attribute = drawOpenAttribute(random, grammar, options.heldOut);
    const day = random.int(1, 28);
    const name = grammar.months[month]!;
    const value = grammar.language === 'en' ? `${name} ${day}` : `${name}${day}日`;
    const relation = openRelation(grammar, template, attribute);
    return { month, attribute: attribute.attribute, relation, line: says(scope, USER, relation, value) };
  });
  const [a, b] = things.map(
    ({ attribute }) => `${grammar.voices.my}${grammar.language === 'en' ? ' ' : ''}${attribute}`,
  );
  return {
    kind: 'order',
    lines: things.map(({ line }) => line),
    history: [],
    query: worded(grammar, random.pick(grammar.tasks.order[options.phrasing]), USER, true, { a: a!, b: b! }),
    value: things[0]!.month < things[1]!.month ? things[0]!.attribute : things[1]!.attribute,
    keys: things.map(({ relation }) => factKey(USER, relation)),
  };
}

/** A preference decides between two things. */
function choice(scope: Scope): TrainingTask {
  const { random, grammar, options } = scope;
  const relation = drawPreference(random, grammar);
  const subject = someone(scope);
  const [value, other] = [0, 1].map(() => valueOf(random, relation, options.heldOut));
  const [x, y] = random.shuffled([value!, other!]);
  return {
    kind: 'choice',
    lines: [says(scope, subject, relation, value!)],
    history: [],
    query: worded(grammar, random.pick(grammar.tasks.choices[options.phrasing]), subject, true, { x: x!, y: y! }),
    value: value!,
    keys: [factKey(subject, relation)],
  };
}

/** Two people of one name, told apart by where they come from. */
function shared(scope: Scope): TrainingTask {
  const { random, grammar, options } = scope;
  const name = drawValue(random, grammar, 'name', options.heldOut);
  const people = [0, 1].map((): Subject => {
    const origin = drawValue(random, grammar, 'place', options.heldOut);
    return { kind: 'named', name: grammar.tasks.sharedName.replace('{n}', () => name).replace('{o}', () => origin) };
  });
  const relation = drawRelation(random, grammar, 0.4, options.heldOut);
  const values = people.map(() => valueOf(random, relation, options.heldOut));
  return {
    kind: 'shared',
    lines: people.map((subject, index) => says(scope, subject, relation, values[index]!)),
    history: [],
    query: question(random, people[0]!, relation, options.phrasing),
    value: values[0]!,
    keys: people.map((subject) => factKey(subject, relation)),
  };
}

/** "And my brother's?", or "And their car?", after a question that was answered. */
function reference(scope: Scope): TrainingTask {
  const { random, grammar, options } = scope;
  const relations = [0, 1].map(() => drawRelation(random, grammar, 0.3, options.heldOut));
  const sameSubject = random.chance(0.5) && relations[0]!.attribute !== relations[1]!.attribute;
  const first = sameSubject ? someone(scope) : random.chance(0.5) ? USER : role(scope);
  const second = sameSubject ? first : random.chance(0.5) ? person(scope) : role(scope);
  const [before, asked] = sameSubject ? relations : [relations[0], relations[0]];
  const values = [before!, asked!].map((relation) => valueOf(random, relation, options.heldOut));
  const template = random.pick(grammar.tasks[sameSubject ? 'sameSubject' : 'sameAttribute'][options.phrasing]);
  const t = first.kind === 'user' ? grammar.voices.my : grammar.voices.theirs;
  return {
    kind: 'reference',
    lines: [says(scope, first, before!, values[0]!), says(scope, second, asked!, values[1]!)],
    history: exchange(question(random, first, before!, options.phrasing), answerIn(grammar, values[0]!).trim()),
    query: worded(grammar, template, USER, true, { t, np: asked!.attribute, p: possessiveOf(grammar, second) }),
    value: values[1]!,
    keys: [factKey(first, before!), factKey(second, asked!)],
  };
}

const tasks: readonly ((scope: Scope) => TrainingTask)[] = [join, list, list, order, choice, shared, reference];

/** Draws tasks of any kind, none of which tells what another does. */
export function drawTasks(
  random: SeededRandom,
  grammar: Grammar,
  count: number,
  options: DocumentOptions,
): TrainingTask[] {
  const drawn: TrainingTask[] = [];
  const told = new Set<string>();
  while (drawn.length < count) {
    const task = random.pick(tasks)({ random, grammar, options });
    if (task.keys.some((key) => told.has(key))) continue;
    for (const key of task.keys) told.add(key);
    drawn.push(task);
  }
  return drawn;
}
