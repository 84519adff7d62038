import type { Grammar, Phrasings } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { fill } from './wording.ts';
import { drawValue, nonceWord } from './values.ts';

/** Subject of a fact: the user, a relative or colleague ("my sister"), a named person, or the person named last ("she"). */
export type Subject =
  | { readonly kind: 'user' }
  | { readonly kind: 'pronoun'; readonly name: string; readonly possessive: string }
  | { readonly kind: 'role'; readonly name: string }
  | { readonly kind: 'named'; readonly name: string };

/** Relation of a fact: an attribute ("home city", "spare umbrella"), its kind of value and its wordings. */
export interface Relation {
  readonly grammar: Grammar;
  readonly attribute: string;
  /** The attribute without qualifiers: "umbrella". */
  readonly head: string;
  readonly valueKind: string;
  readonly preference: boolean;
  /** An open relation's attribute is any noun; its wordings are its own alone. */
  readonly open: boolean;
  readonly statements: Phrasings;
  readonly questions: Phrasings;
}

/** Sets of wordings: those of training, or held-out ones. */
export type PhrasingSide = keyof Phrasings;

export const USER: Subject = { kind: 'user' };

/** Converts a relation of the grammar. */
export function namedRelation(grammar: Grammar, template: Grammar['relations'][number]): Relation {
  const { name } = template;
  return { ...openRelation(grammar, template, { attribute: name, head: name }), open: false };
}

/** An attribute that can be anything: a noun, real or nonce, half the time each, sometimes with an adjective. */
export interface OpenAttribute {
  readonly attribute: string;
  readonly head: string;
}

export function drawOpenAttribute(random: SeededRandom, grammar: Grammar, heldOut: boolean): OpenAttribute {
  const head = random.chance(0.5) ? random.pick(grammar.nouns) : nonceWord(random, grammar, heldOut, 3);
  if (!random.chance(0.25)) return { attribute: head, head };
  const adjective = random.chance(0.5) ? random.pick(grammar.adjectives) : nonceWord(random, grammar, heldOut, 2);
  return { attribute: fill(grammar.attribute, { a: adjective, h: head }), head };
}

/** Applies an open relation of the grammar to an attribute. */
export function openRelation(
  grammar: Grammar,
  template: Grammar['openRelations'][number],
  { attribute, head }: OpenAttribute,
): Relation {
  return {
    grammar,
    attribute,
    head,
    valueKind: template.value,
    preference: template.preference ?? false,
    open: true,
    statements: template.statements,
    questions: template.questions,
  };
}

/** Draws a relation; `openShare` of them are open: any noun as the attribute. */
export function drawRelation(random: SeededRandom, grammar: Grammar, openShare: number, heldOut: boolean): Relation {
  if (!random.chance(openShare)) return namedRelation(grammar, random.pick(grammar.relations));
  const template = random.pick(grammar.openRelations);
  return openRelation(grammar, template, drawOpenAttribute(random, grammar, heldOut));
}

/** True if neither attribute nor value is a person whom a later pronoun could mean. */
export function namesNobody({ open, valueKind }: Relation): boolean {
  return !open && valueKind !== 'name';
}

/** Draws a relation that states a preference. */
export function drawPreference(random: SeededRandom, grammar: Grammar): Relation {
  return namedRelation(grammar, random.pick(grammar.relations.filter(({ preference }) => preference)));
}

/** Key of subject and attribute: two facts with one key contradict each other. */
export function factKey(subject: Subject, relation: Relation): string {
  return `${subject.kind === 'user' ? 'user' : subject.name}|${relation.attribute}`;
}

interface Voice {
  readonly possessive: string;
  readonly nominative: string;
  readonly thirdPerson: boolean;
}

function voiceOf({ voices }: Grammar, subject: Subject, own: boolean): Voice {
  if (subject.kind === 'user') {
    return own
      ? { possessive: voices.my, nominative: voices.I, thirdPerson: false }
      : { possessive: voices.userPossessive, nominative: voices.user, thirdPerson: true };
  }
  if (subject.kind === 'pronoun') {
    return { possessive: subject.possessive, nominative: subject.name, thirdPerson: true };
  }
  const role = own ? voices.myRole : voices.userRole;
  const nominative = subject.kind === 'named' ? subject.name : fill(role, { r: subject.name });
  return { possessive: fill(voices.possessive, { s: nominative }), nominative, thirdPerson: true };
}

/** Possessive form of a subject, such as "my sister's". */
export function possessiveOf(grammar: Grammar, subject: Subject): string {
  return voiceOf(grammar, subject, true).possessive;
}

/** Fills a template with the pronouns and verb forms of a subject, and with `slots`. @param own "my", not "the user's" */
export function worded(
  template: string,
  { grammar, subject, own }: { readonly grammar: Grammar; readonly subject: Subject; readonly own: boolean },
  slots: Readonly<Record<string, string>> = {},
): string {
  const voice = voiceOf(grammar, subject, own);
  const filled: Readonly<Record<string, string>> = { p: voice.possessive, s: voice.nominative, ...slots };
  const text = template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    return filled[slot] ?? (voice.thirdPerson ? (grammar.verbs[slot] ?? `${slot}s`) : slot);
  });
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Draws the perspective of a statement: true for "my", false for "the user's". */
export function drawFirstPerson(random: SeededRandom, subject: Subject): boolean {
  if (subject.kind === 'named' || subject.kind === 'pronoun') return false;
  return random.chance(subject.kind === 'user' ? 0.5 : 0.6);
}

/** Draws a wording from one set; generic wordings are used if a relation has none, and sometimes otherwise. */
function wording(
  random: SeededRandom,
  relation: Relation,
  what: 'statements' | 'questions',
  side: PhrasingSide,
): string {
  const own = relation[what][side];
  const useOwn = own.length > 0 && (relation.open || random.chance(0.6));
  return random.pick(useOwn ? own : relation.grammar.generic[what][side]);
}

/** A relation of a subject and its value. */
export interface Fact {
  readonly subject: Subject;
  readonly relation: Relation;
  readonly value: string;
}

/** Words a fact as the sentence of a memory. */
export function statement(
  random: SeededRandom,
  { subject, relation, value }: Fact,
  side: PhrasingSide,
  options: { readonly update?: boolean; readonly firstPerson?: boolean } = {},
): string {
  const { grammar, attribute } = relation;
  const template = options.update
    ? random.pick(grammar.generic.updates[side])
    : wording(random, relation, 'statements', side);
  const own = (options.firstPerson ?? false) || drawFirstPerson(random, subject);
  return worded(template, { grammar, subject, own }, { np: attribute, v: value });
}

/** Words a question of the user about a fact. */
export function question(random: SeededRandom, subject: Subject, relation: Relation, side: PhrasingSide): string {
  const template = wording(random, relation, 'questions', side);
  return worded(template, { grammar: relation.grammar, subject, own: true }, { np: relation.attribute });
}

/** Draws a value of the relation's kind. */
export function valueOf(random: SeededRandom, relation: Relation, heldOut: boolean): string {
  return drawValue(random, relation.grammar, relation.valueKind, heldOut);
}

/** True if the wording of an update, "my … is now …", fits the relation, and its value can change in a life. */
export function canChange({ open, statements, grammar, attribute }: Relation): boolean {
  return open ? statements.known.includes(grammar.generic.statements.known[0]!) : !grammar.lasting.includes(attribute);
}
