import { grammars } from '../../config/grammar.ts';
import type { Relation, Subject } from './relations.ts';

/** Attributes between which a question may not tell: a store that holds one must not be asked for another as absent. */
const topics = new Map(
  Object.values(grammars).map((grammar) => [
    grammar.language,
    new Map(grammar.topics.flatMap((attributes) => attributes.map((attribute) => [attribute, attributes[0]!]))),
  ]),
);

/**
 * What a fact and a question are about, wider than the attribute: "spare umbrella" and "umbrella" share a topic, as do
 * "wife" and "partner's name".
 */
export function topicOf({ grammar, head }: Relation): string {
  return topics.get(grammar.language)!.get(head) ?? head;
}

/** Identifies a topic of a subject: facts of one key could be taken for each other. */
export function topicKey(subject: Subject, relation: Relation): string {
  return `${subject.kind === 'user' ? 'user' : subject.name}|${topicOf(relation)}`;
}
