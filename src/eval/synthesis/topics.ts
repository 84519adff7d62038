import type { Grammar } from '../../config/grammar.ts';
import type { Relation, Subject } from './relations.ts';

function topicsOf({ topics }: Grammar): ReadonlyMap<string, string> {
  return new Map(topics.flatMap((attributes) => attributes.map((attribute) => [attribute, attributes[0]!])));
}

/** Attributes between which a question may not tell: a store that holds one must not be asked for another as absent. */
const topics = new Map<Grammar, ReadonlyMap<string, string>>();

/**
 * What a fact and a question are about, wider than the attribute: "spare umbrella" and "umbrella" share a topic, as do
 * "wife" and "partner's name".
 */
export function topicOf({ grammar, head }: Relation): string {
  const known = topics.get(grammar) ?? topicsOf(grammar);
  topics.set(grammar, known);
  return known.get(head) ?? head;
}

/** Identifies a topic of a subject: facts of one key could be taken for each other. */
export function topicKey(subject: Subject, relation: Relation): string {
  return `${subject.kind === 'user' ? 'user' : subject.name}|${topicOf(relation)}`;
}
