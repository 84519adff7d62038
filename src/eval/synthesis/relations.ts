import type { Grammar, Phrasings } from '../../config/grammar.ts';
import type { SeededRandom } from '../random.ts';
import { fill } from './fill.ts';
import { drawValue, nonceWord } from './values.ts';

/** Whom a fact is about: the user, a relative or colleague ("my sister"), somebody by name, or who was named last ("she"). */
export type Subject =
  | { readonly kind: 'user' }
  | { readonly kind: 'pronoun'; readonly name: string; readonly possessive: string }
  | { readonly kind: 'role'; readonly name: string }
  | { readonly kind: 'named'; readonly name: string };

/** What a fact says: an attribute ("home city", "spare umbrella"), its kind of value and its wordings. */
export interface Relation {
  readonly grammar: Grammar;
  readonly attribute: string;
  /** The attribute without what only qualifies it: "umbrella". */
  readonly head: string;
  readonly valueKind: string;
  readonly preference: boolean;
  /** An open relation's attribute is any noun; its wordings are its own alone. */
  readonly open: boolean;
  readonly statements: Phrasings;
  readonly questions: Phrasings;
}

/** Which wordings may be used: those of training, or those that it never sees. */
export type PhrasingSide = keyof Phrasings;

export const USER: Subject = { kind: 'user' };

/** The relation that `template` of the grammar describes. */
export function namedRelation(grammar: Grammar, template: Grammar['relations'][number]): Relation {
  return {
    grammar,
    attribute: template.name,
    head: template.name,
    valueKind: template.value,
    preference: template.preference ?? false,
    open: false,
    statements: template.statements,
    questions: template.questions,
  };
}

/** An attribute that can be anything: a noun, real or nonce, half the time each, sometimes with an adjective. */
export interface OpenAttribute {
  readonly attribute: string;
  readonly head: string;
}

export function drawOpenAttribute(random: SeededRandom, grammar: Grammar, heldOut: boolean): OpenAttribute {
  const head = random.chance(0.5) ? random.pick(grammar.nouns) : nonceWord(random, grammar, heldOut, 1, 3);
  if (!random.chance(0.25)) return { attribute: head, head };
  const adjective = random.chance(0.5) ? random.pick(grammar.adjectives) : nonceWord(random, grammar, heldOut, 1, 2);
  return { attribute: fill(grammar.attribute, { a: adjective, h: head }), head };
}

/** What `template` says of an attribute. */
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

/** Neither its attribute nor its value is somebody whom a pronoun behind it could mean. */
export function namesNobody({ open, valueKind }: Relation): boolean {
  return !open && valueKind !== 'name';
}

/** Draws one of the relations that `user_preferences` would hold. */
export function drawPreference(random: SeededRandom, grammar: Grammar): Relation {
  return namedRelation(grammar, random.pick(grammar.relations.filter(({ preference }) => preference)));
}

/** Identifies what is asked: two facts of one key would contradict each other. */
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

/** "My sister's", as a question names whose it is. */
export function possessiveOf(grammar: Grammar, subject: Subject): string {
  return voiceOf(grammar, subject, true).possessive;
}

/** A template in the words of a subject; `slots` are filled as they stand. */
export function worded(
  grammar: Grammar,
  template: string,
  subject: Subject,
  own: boolean,
  slots: Readonly<Record<string, string>>,
): string {
  const voice = voiceOf(grammar, subject, own);
  const filled: Readonly<Record<string, string>> = { p: voice.possessive, s: voice.nominative, ...slots };
  const text = template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    return filled[slot] ?? (voice.thirdPerson ? (grammar.verbs[slot] ?? `${slot}s`) : slot);
  });
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether what is stated speaks of "my" things or of "the user's". */
export function speaksOfOwn(random: SeededRandom, subject: Subject): boolean {
  if (subject.kind === 'named' || subject.kind === 'pronoun') return false;
  return random.chance(subject.kind === 'user' ? 0.5 : 0.6);
}

/** A wording of one side; the generic ones serve where a relation has none, and now and then otherwise. */
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

/** One sentence that states the fact, as a memory holds it. */
export function statement(
  random: SeededRandom,
  subject: Subject,
  relation: Relation,
  value: string,
  side: PhrasingSide,
  options: { readonly update?: boolean; readonly firstPerson?: boolean } = {},
): string {
  const { grammar, attribute } = relation;
  const template = options.update
    ? random.pick(grammar.generic.updates[side])
    : wording(random, relation, 'statements', side);
  const own = (options.firstPerson ?? false) || speaksOfOwn(random, subject);
  return worded(grammar, template, subject, own, { np: attribute, v: value });
}

/** One question of the user about the fact. */
export function question(random: SeededRandom, subject: Subject, relation: Relation, side: PhrasingSide): string {
  const template = wording(random, relation, 'questions', side);
  return worded(relation.grammar, template, subject, true, { np: relation.attribute });
}

/** A value that the relation can take. */
export function valueOf(random: SeededRandom, relation: Relation, heldOut: boolean): string {
  return drawValue(random, relation.grammar, relation.valueKind, heldOut);
}

/** What an update says, "my … is now …", fits the relation, and the thing does change in a life. */
export function canChange({ open, statements, grammar, attribute }: Relation): boolean {
  return open ? statements.known.includes(grammar.generic.statements.known[0]!) : !grammar.lasting.includes(attribute);
}
