import { grammars, type Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { DocumentOptions } from './curriculum.ts';
import {
  drawRelation,
  factKey,
  namedRelation,
  openRelation,
  USER,
  drawRelationValue,
  type Relation,
  type Subject,
} from '../../../src/data/generators/facts-and-relations.ts';
import { drawSubjects } from './training-facts.ts';
import { question, statement } from '../../../src/data/generators/fact-wording.ts';

export interface PairLanguages {
  readonly memories: Grammar['language'];
  readonly questions: Grammar['language'];
}

/** Training pairs of an embedder: distinct memories of one user and a question for each, in the same order. */
export function drawEmbeddingPairs(
  random: SeededRandom,
  count: number,
  options: DocumentOptions & { readonly languages?: PairLanguages },
): { memories: string[]; questions: string[] } {
  const { heldOut, phrasing, languages = { memories: 'en', questions: 'en' } } = options;
  const grammar = grammars[languages.memories];
  const across = languages.memories !== languages.questions;
  const subjects = [0, 1, 2].flatMap(() => drawSubjects(random, grammar, 1, heldOut).slice(1)).concat(USER);
  const facts: { subject: Subject; relation: Relation }[] = [];
  const used = new Set<string>();
  while (facts.length < count) {
    const subject = random.chance(0.5) ? USER : random.pick(subjects);
    const near = facts.length > 0 && random.chance(0.2);
    const relation = near
      ? random.pick(facts).relation
      : across
        ? drawTranslatable(random, grammar)
        : drawRelation(random, grammar, 0.6, heldOut);
    const key = factKey(subject, relation);
    if (used.has(key)) continue;
    used.add(key);
    facts.push({ subject, relation });
  }
  const asked = grammars[languages.questions];
  return {
    memories: facts.map(({ subject, relation }) =>
      statement(random, { subject, relation, value: drawRelationValue(random, relation, heldOut) }, phrasing, {
        update: random.chance(0.15),
      }),
    ),
    questions: facts.map(({ subject, relation }) =>
      question(random, translatedSubject(subject, grammar, asked), translatedRelation(relation, asked), phrasing),
    ),
  };
}

/** Draws a relation that both languages have, without nonce nouns. */
function drawTranslatable(random: SeededRandom, grammar: Grammar): Relation {
  if (random.chance(0.4)) return namedRelation(grammar, random.pick(grammar.relations));
  const head = random.pick(grammar.nouns);
  return openRelation(grammar, random.pick(grammar.openRelations), { attribute: head, head });
}

/** Returns the entry at the same index of the other grammar. */
function counterpart<T>(own: readonly T[], others: readonly T[], wanted: (one: T) => boolean): T {
  return others[own.findIndex(wanted)]!;
}

function translatedSubject(subject: Subject, from: Grammar, into: Grammar): Subject {
  if (subject.kind !== 'role') return subject;
  return { kind: 'role', name: counterpart(from.roles, into.roles, (name) => name === subject.name) };
}

function translatedRelation(relation: Relation, into: Grammar): Relation {
  const { grammar: from, attribute, open, statements } = relation;
  if (from === into) return relation;
  if (!open) {
    const named = counterpart(from.relations, into.relations, ({ name }) => name === attribute);
    return namedRelation(into, named);
  }
  const template = counterpart(from.openRelations, into.openRelations, (each) => each.statements === statements);
  const head = counterpart(from.nouns, into.nouns, (noun) => noun === attribute);
  return openRelation(into, template, { attribute: head, head });
}
