import type { Grammar } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { fillTemplate } from './fill-template.ts';
import type { Subject, Relation, PhrasingSide, Fact } from './facts-and-relations.ts';

/** The words for a subject: "my sister's" and "my sister". @param own true for "my", false for "the user's" */
export function subjectWords({ voices }: Grammar, subject: Subject, own: boolean) {
  if (subject.kind === 'user') {
    return own
      ? { possessive: voices.my, nominative: voices.I }
      : { possessive: voices.userPossessive, nominative: voices.user };
  }
  if (subject.kind === 'pronoun') return { possessive: subject.possessive, nominative: subject.name };
  const role = own ? voices.myRole : voices.userRole;
  const nominative = subject.kind === 'named' ? subject.name : fillTemplate(role, { r: subject.name });
  return { possessive: fillTemplate(voices.possessive, { s: nominative }), nominative };
}

/** Fills a template with the pronouns and verb forms of a subject, and with `slots`. @param own as `subjectWords` */
export function fillForSubject(
  template: string,
  { grammar, subject, own }: { readonly grammar: Grammar; readonly subject: Subject; readonly own: boolean },
  slots: Readonly<Record<string, string>> = {},
): string {
  const words = subjectWords(grammar, subject, own);
  const filled: Readonly<Record<string, string>> = { p: words.possessive, s: words.nominative, ...slots };
  const verb = (slot: string): string => (subject.kind === 'user' && own ? slot : (grammar.verbs[slot] ?? `${slot}s`));
  const text = template.replace(/\{(\w+)\}/g, (_, slot: string) => filled[slot] ?? verb(slot));
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Draws the perspective of a statement: true for "my", false for "the user's". */
export function drawFirstPerson(random: SeededRandom, { kind }: Subject): boolean {
  return kind !== 'named' && kind !== 'pronoun' && random.chance(kind === 'user' ? 0.5 : 0.6);
}

/** Draws a wording: the relation's own, else a generic one; of fixed attributes, 40 % of the draws are generic. */
function drawTemplate(random: SeededRandom, relation: Relation, what: 'statements' | 'questions', side: PhrasingSide) {
  const own = relation[what][side];
  const useOwn = own.length > 0 && (relation.open || random.chance(0.6));
  return random.pick(useOwn ? own : relation.grammar.generic[what][side]);
}

export function statement(
  random: SeededRandom,
  { subject, relation, value }: Fact,
  side: PhrasingSide,
  { update = false, firstPerson = false } = {},
): string {
  const { grammar, attribute } = relation;
  const template = update
    ? random.pick(grammar.generic.updates[side])
    : drawTemplate(random, relation, 'statements', side);
  const own = firstPerson || drawFirstPerson(random, subject);
  return fillForSubject(template, { grammar, subject, own }, { np: attribute, v: value });
}

export function question(random: SeededRandom, subject: Subject, relation: Relation, side: PhrasingSide): string {
  const template = drawTemplate(random, relation, 'questions', side);
  return fillForSubject(template, { grammar: relation.grammar, subject, own: true }, { np: relation.attribute });
}
