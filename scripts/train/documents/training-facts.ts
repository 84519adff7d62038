import type { Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { Curriculum, DocumentOptions, TaskKind } from './curriculum.ts';
import {
  drawRelation,
  factKey,
  USER,
  drawRelationValue,
  type Relation,
  type Subject,
} from '../../../src/data/generators/facts-and-relations.ts';
import { drawValue } from '../../../src/data/generators/draw-value.ts';
import { statement } from '../../../src/data/generators/fact-wording.ts';

/** Source of a question's answer. */
export type QuestionKind =
  'plain' | 'update' | 'several' | 'other' | 'history' | 'override' | 'absent' | Exclude<TaskKind, 'dates'>;

/** A fact of a document; an update changes `value` and `kind`. */
export interface Fact {
  readonly subject: Subject;
  readonly relation: Relation;
  value: string;
  kind: QuestionKind;
}

/** Text of a memory, and its place in the user's time, 0 to 1. */
export interface TrainingLine {
  readonly at: number;
  readonly text: string;
}

/** Draws the subjects of a document: the user, and sometimes relatives and named people. */
export function drawSubjects(random: SeededRandom, grammar: Grammar, others: number, heldOut: boolean): Subject[] {
  const draw = (): Subject =>
    random.chance(0.5)
      ? { kind: 'role', name: random.pick(grammar.roles) }
      : { kind: 'named', name: drawValue(random, grammar, 'name', heldOut) };
  return others === 0 ? [USER] : [USER, draw(), draw()];
}

interface FactScope {
  readonly grammar: Grammar;
  readonly count: number;
  readonly level: Curriculum;
  readonly subjects: readonly Subject[];
  readonly heldOut: boolean;
  /** Keys of facts that the document already has. */
  readonly told: readonly string[];
}

/** Draws facts with distinct keys, some with the same attribute of another subject. */
export function drawFacts(random: SeededRandom, scope: FactScope): Fact[] {
  const { grammar, count, level, subjects, heldOut, told } = scope;
  const facts: Fact[] = [];
  const used = new Set(told);
  while (facts.length < count) {
    const about = subjects.length === 1 || !random.chance(level.others) ? USER : random.pick(subjects.slice(1));
    const repeats = facts.length > 0 && random.chance(0.15) && level.others > 0;
    const relation = repeats ? random.pick(facts).relation : drawRelation(random, grammar, level.open, heldOut);
    const key = factKey(about, relation);
    if (used.has(key)) continue;
    used.add(key);
    const kind = repeats ? 'several' : about.kind === 'user' ? 'plain' : 'other';
    facts.push({ subject: about, relation, value: drawRelationValue(random, relation, heldOut), kind });
  }
  return facts;
}

/** Words the facts as memories; an update comes after the memory that it replaces. */
export function statementsOf(
  random: SeededRandom,
  facts: readonly Fact[],
  level: Curriculum,
  options: DocumentOptions,
): TrainingLine[] {
  const lines = facts.map((fact) => ({ at: random.float(), text: statement(random, fact, options.phrasing) }));
  facts.forEach((fact, index) => {
    if (!random.chance(level.updates)) return;
    const before = lines[index]!.at;
    fact.value = drawRelationValue(random, fact.relation, options.heldOut);
    fact.kind = 'update';
    lines.push({
      at: before + (1 - before) * random.float() + Number.EPSILON,
      text: statement(random, fact, options.phrasing, { update: true }),
    });
  });
  return lines;
}
