import { templates } from '../../config/templates.ts';
import type { SeededRandom } from '../random.ts';
import type { Curriculum, DocumentOptions } from './curriculum.ts';
import { drawRelation, factKey, statement, USER, valueOf, type Relation, type Subject } from './relations.ts';
import { drawValue } from './values.ts';

/** Why a question has the answer that it has. */
export type QuestionKind = 'plain' | 'update' | 'several' | 'other' | 'history' | 'absent';

/** What a document knows; `value` and `kind` change where a later memory replaces it. */
export interface Fact {
  readonly subject: Subject;
  readonly relation: Relation;
  value: string;
  kind: QuestionKind;
}

/** The user, and now and then a relative and somebody by name. */
export function drawSubjects(random: SeededRandom, others: number, heldOut: boolean): Subject[] {
  const subjects: Subject[] = [USER];
  if (others === 0) return subjects;
  for (let count = 0; count < 2; count++) {
    subjects.push(
      random.chance(0.5)
        ? { kind: 'role', name: random.pick(templates.roles) }
        : { kind: 'named', name: drawValue(random, 'name', heldOut) },
    );
  }
  return subjects;
}

/** Facts of distinct keys, some of them the same attribute of somebody else. */
export function drawFacts(
  random: SeededRandom,
  count: number,
  level: Curriculum,
  subjects: readonly Subject[],
  heldOut: boolean,
): Fact[] {
  const facts: Fact[] = [];
  const used = new Set<string>();
  while (facts.length < count) {
    const about = subjects.length === 1 || !random.chance(level.others) ? USER : random.pick(subjects.slice(1));
    const repeats = facts.length > 0 && random.chance(0.15);
    const relation =
      repeats && level.others > 0 ? random.pick(facts).relation : drawRelation(random, level.open, heldOut);
    const key = factKey(about, relation);
    if (used.has(key)) continue;
    used.add(key);
    const kind = repeats && level.others > 0 ? 'several' : about.kind === 'user' ? 'plain' : 'other';
    facts.push({ subject: about, relation, value: valueOf(random, relation, heldOut), kind });
  }
  return facts;
}

/** The sentences in the order of their making; an update comes after what it replaces. */
export function statementsOf(
  random: SeededRandom,
  facts: readonly Fact[],
  level: Curriculum,
  options: DocumentOptions,
): string[] {
  const lines = facts.map((fact) => ({
    at: random.float(),
    text: statement(random, fact.subject, fact.relation, fact.value, options.phrasing),
  }));
  facts.forEach((fact, index) => {
    if (!random.chance(level.updates)) return;
    const before = lines[index]!.at;
    fact.value = valueOf(random, fact.relation, options.heldOut);
    fact.kind = 'update';
    lines.push({
      at: before + (1 - before) * random.float() + Number.EPSILON,
      text: statement(random, fact.subject, fact.relation, fact.value, options.phrasing, { update: true }),
    });
  });
  return lines.sort((a, b) => a.at - b.at).map((line) => line.text);
}
