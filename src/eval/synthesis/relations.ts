import { templates, type Phrasings } from '../../config/templates.ts';
import type { SeededRandom } from '../random.ts';
import { drawValue, nonceWord } from './values.ts';

/** Whom a fact is about: the user, a relative or colleague ("my sister"), or somebody by name. */
export type Subject =
  | { readonly kind: 'user' }
  | { readonly kind: 'role'; readonly name: string }
  | { readonly kind: 'named'; readonly name: string };

/** What a fact says: an attribute ("home city", "spare umbrella"), its kind of value and its wordings. */
export interface Relation {
  readonly attribute: string;
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

const namedRelations: readonly Relation[] = templates.relations.map((relation) => ({
  attribute: relation.name,
  valueKind: relation.value,
  preference: relation.preference ?? false,
  open: false,
  statements: relation.statements,
  questions: relation.questions,
}));

const preferences = namedRelations.filter((relation) => relation.preference);

/** A noun, real or nonce, half the time each, sometimes with an adjective. */
function openAttribute(random: SeededRandom, heldOut: boolean): string {
  const noun = random.chance(0.5) ? random.pick(templates.nouns) : nonceWord(random, heldOut, 1, 3);
  if (!random.chance(0.25)) return noun;
  const adjective = random.chance(0.5) ? random.pick(templates.adjectives) : nonceWord(random, heldOut, 1, 2);
  return `${adjective} ${noun}`;
}

/** Draws a relation; `openShare` of them are open: any noun as the attribute. */
export function drawRelation(random: SeededRandom, openShare: number, heldOut: boolean, attribute?: string): Relation {
  if (attribute === undefined && !random.chance(openShare)) return random.pick(namedRelations);
  const template = random.pick(templates.openRelations);
  return {
    attribute: attribute ?? openAttribute(random, heldOut),
    valueKind: template.value,
    preference: template.preference ?? false,
    open: true,
    statements: template.statements,
    questions: template.questions,
  };
}

/** Draws one of the relations that `user_preferences` would hold. */
export function drawPreference(random: SeededRandom): Relation {
  return random.pick(preferences);
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

function voiceOf(subject: Subject, random: SeededRandom, asking: boolean): Voice {
  if (subject.kind === 'named') {
    return { possessive: `${subject.name}'s`, nominative: subject.name, thirdPerson: true };
  }
  const own = asking || random.chance(subject.kind === 'user' ? 0.5 : 0.6);
  if (subject.kind === 'role') {
    const nominative = `${own ? 'my' : "the user's"} ${subject.name}`;
    return { possessive: `${nominative}'s`, nominative, thirdPerson: true };
  }
  return own
    ? { possessive: 'my', nominative: 'I', thirdPerson: false }
    : { possessive: "the user's", nominative: 'the user', thirdPerson: true };
}

function worded(template: string, voice: Voice, attribute: string, value: string): string {
  const text = template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    switch (slot) {
      case 'p':
        return voice.possessive;
      case 's':
        return voice.nominative;
      case 'np':
        return attribute;
      case 'v':
        return value;
      default:
        return voice.thirdPerson ? (templates.verbs[slot] ?? `${slot}s`) : slot;
    }
  });
  return text.charAt(0).toUpperCase() + text.slice(1);
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
  return random.pick(useOwn ? own : templates.generic[what][side]);
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
  const template = options.update
    ? random.pick(templates.generic.updates[side])
    : wording(random, relation, 'statements', side);
  return worded(template, voiceOf(subject, random, options.firstPerson ?? false), relation.attribute, value);
}

/** One question of the user about the fact. */
export function question(random: SeededRandom, subject: Subject, relation: Relation, side: PhrasingSide): string {
  const template = wording(random, relation, 'questions', side);
  return worded(template, voiceOf(subject, random, true), relation.attribute, '');
}

/** A value that the relation can take. */
export function valueOf(random: SeededRandom, relation: Relation, heldOut: boolean): string {
  return drawValue(random, relation.valueKind, heldOut);
}
