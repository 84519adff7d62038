import type { Grammar, Phrasings } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { drawValue, nonceWord } from './draw-value.ts';
import { fillTemplate } from './fill-template.ts';

/** Subject of a fact: the user, a relative or colleague ("my sister"), a named person, or the person named last ("she"). */
export type Subject =
  | { readonly kind: 'user' }
  | { readonly kind: 'pronoun'; readonly name: string; readonly possessive: string }
  | { readonly kind: 'role'; readonly name: string }
  | { readonly kind: 'named'; readonly name: string };

/** An attribute, such as "spare umbrella", and its head noun without qualifiers, "umbrella". */
export interface OpenAttribute {
  readonly attribute: string;
  readonly head: string;
}

export interface Relation extends OpenAttribute {
  readonly grammar: Grammar;
  readonly valueKind: string;
  readonly preference: boolean;
  /** True if the attribute can be any noun; generic wordings do not fit then. */
  readonly open: boolean;
  readonly statements: Phrasings;
  readonly questions: Phrasings;
}

export interface Fact {
  readonly subject: Subject;
  readonly relation: Relation;
  readonly value: string;
}

/** Set of wordings: those of training, or held-out ones. */
export type PhrasingSide = keyof Phrasings;

export const USER: Subject = { kind: 'user' };

export function namedRelation(grammar: Grammar, template: Grammar['relations'][number]): Relation {
  const { name } = template;
  return { ...openRelation(grammar, template, { attribute: name, head: name }), open: false };
}

export function openRelation(
  grammar: Grammar,
  { value, preference = false, statements, questions }: Grammar['openRelations'][number],
  { attribute, head }: OpenAttribute,
): Relation {
  return { grammar, attribute, head, valueKind: value, preference, open: true, statements, questions };
}

/** Draws a noun, real or nonce with equal probability, sometimes with an adjective. */
export function drawOpenAttribute(random: SeededRandom, grammar: Grammar, heldOut: boolean): OpenAttribute {
  const head = random.chance(0.5) ? random.pick(grammar.nouns) : nonceWord(random, grammar, heldOut, 3);
  if (!random.chance(0.25)) return { attribute: head, head };
  const adjective = random.chance(0.5) ? random.pick(grammar.adjectives) : nonceWord(random, grammar, heldOut, 2);
  return { attribute: fillTemplate(grammar.attribute, { a: adjective, h: head }), head };
}

export function drawRelation(random: SeededRandom, grammar: Grammar, openShare: number, heldOut: boolean): Relation {
  if (!random.chance(openShare)) return namedRelation(grammar, random.pick(grammar.relations));
  const template = random.pick(grammar.openRelations);
  return openRelation(grammar, template, drawOpenAttribute(random, grammar, heldOut));
}

export function drawPreference(random: SeededRandom, grammar: Grammar): Relation {
  return namedRelation(grammar, random.pick(grammar.relations.filter(({ preference }) => preference)));
}

export function drawRelationValue(random: SeededRandom, { grammar, valueKind }: Relation, heldOut: boolean): string {
  return drawValue(random, grammar, valueKind, heldOut);
}

/** True for a fixed attribute whose value is no name: a later "she" cannot mean the value. */
export function namesNoPerson({ open, valueKind }: Relation): boolean {
  return !open && valueKind !== 'name';
}

/** True if the wording of an update, "my … is now …", fits the relation, and the value can change during a life. */
export function canChange({ open, statements, grammar, attribute }: Relation): boolean {
  return open ? statements.known.includes(grammar.generic.statements.known[0]!) : !grammar.lasting.includes(attribute);
}

function subjectName(subject: Subject): string {
  return subject.kind === 'user' ? 'user' : subject.name;
}

/** Key of subject and attribute: facts with the same key contradict each other. */
export function factKey(subject: Subject, { attribute }: Relation): string {
  return `${subjectName(subject)}|${attribute}`;
}

/**
 * The topic of a relation: attributes that a question cannot tell apart share one, which has the name of the first of them. A
 * stored wife answers a question about the partner.
 */
export function relationTopic({ grammar, head }: Relation): string {
  return grammar.topics.find((attributes) => attributes.includes(head))?.[0] ?? head;
}

export function topicKey(subject: Subject, relation: Relation): string {
  return `${subjectName(subject)}|${relationTopic(relation)}`;
}
