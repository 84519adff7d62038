import { grammars } from '../../base/grammar.ts';
import type { Relation, Subject } from './relations.ts';

/** Attributes that a question cannot tell apart: if one is stored, another cannot be asked for as absent. */
const topics = new Map(
  Object.values(grammars).map((grammar) => [
    grammar.language,
    new Map(grammar.topics.flatMap((attributes) => attributes.map((attribute) => [attribute, attributes[0]!]))),
  ]),
);

/**
 * Returns the topic of a relation, which is wider than its attribute: "spare umbrella" and "umbrella" share a topic, as do
 * "wife" and "partner's name".
 */
export function topicOf({ grammar, head }: Relation): string {
  return topics.get(grammar.language)!.get(head) ?? head;
}

/** Key of subject and topic: facts with one key can be confused. */
export function topicKey(subject: Subject, relation: Relation): string {
  return `${subject.kind === 'user' ? 'user' : subject.name}|${topicOf(relation)}`;
}
