import type { FactGrammar, FactTemplate, Subject } from './fact-grammar.ts';
import { fillTemplate } from '../../../src/data/generators/fill-template.ts';

/**
 * How a sentence names its subject: `mine` as the user does ("my dentist"), `yours` as an answer does, `pronoun` where the
 * conversation has named it, `alt` in other words, or by a name of its own.
 */
export type Naming = 'mine' | 'yours' | 'pronoun' | 'alt' | { readonly name: string };

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function namesOf(grammar: FactGrammar, subject: Subject, naming: Naming) {
  const named = (name: string) => ({
    subject: name,
    possessive: fillTemplate(grammar.possessive, { n: name }),
    object: name,
  });
  if (typeof naming === 'object') return named(naming.name);
  const { label, pronoun, alt = label } = subject;
  if (naming === 'pronoun') return grammar.pronouns[pronoun ?? 'it'];
  if (naming === 'alt') return named(alt);
  if (naming === 'yours' && label.startsWith(grammar.mine))
    return named(grammar.yours + label.slice(grammar.mine.length));
  return named(label);
}

/**
 * Words a template about a subject. Slots: `{s}` the subject, `{p}` its possessive, `{o}` as an object, each in capitals at the
 * start of a sentence; `{a}` its other words, `{b}` the possessive pronoun, `{t}` its title, `{v}` the value.
 */
export function worded(
  grammar: FactGrammar,
  template: string,
  subject: Subject,
  naming: Naming,
  value = '{v}',
): string {
  const { subject: s, possessive: p, object: o } = namesOf(grammar, subject, naming);
  return fillTemplate(template, {
    s,
    p,
    o,
    S: capitalised(s),
    P: capitalised(p),
    O: capitalised(o),
    a: namesOf(grammar, subject, 'alt').subject,
    b: grammar.pronouns[subject.pronoun ?? 'it'].possessive,
    t: subject.title ?? '',
    v: value,
  });
}

/** Lists the questions that read well with a pronoun in the place of the subject. */
export function pronounAsks(
  { language, prepositions }: FactGrammar,
  { asks }: FactTemplate,
  subject: Subject,
): string[] {
  const thing = subject.pronoun === 'it';
  if (language === 'zh') return asks.filter((ask) => (thing ? /^\{[SP]\}/ : /\{[spo]\}/i).test(ask));
  // "Who waters it?", but not "What do I bring to it?"
  const slot = thing ? '[so]' : 's';
  const behind = new RegExp(String.raw`(^|\s)(${prepositions.join('|')}) \{${slot}\}`, 'i');
  return asks.filter((ask) => /\{[spo]\}/i.test(ask) && !behind.test(ask));
}
