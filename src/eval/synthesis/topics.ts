import type { Relation, Subject } from './relations.ts';

/** Attributes between which a question may not tell: a store that holds one must not be asked for another as absent. */
const SAME_TOPIC: readonly (readonly string[])[] = [
  ["dog's name", 'puppy'],
  ["cat's name", 'kitten'],
  ["parrot's name", 'bird', 'animal'],
  ["sister's name", "brother's name"],
  ['boss', 'company', 'job', 'startup', 'office'],
  ['home city', 'street', 'birthplace', 'address', 'postcode', 'village'],
  ["partner's name", 'partner', 'wife', 'husband'],
  ['wedding anniversary', 'wedding'],
  ['doctor', 'clinic', 'hospital'],
  ['dentist appointment', 'dentist'],
  ['second language', 'language'],
  ['hobby', 'sport', 'game'],
  ['favourite book', 'novel'],
  ['favourite food', 'favourite restaurant', 'lunch', 'dinner'],
  ['school', 'university', 'degree'],
  ['locker code', 'lock'],
  ['door PIN', 'key'],
  ['wifi password', 'password', 'router'],
  ['room number', 'hotel', 'hostel', 'number'],
  ['flight number', 'ticket'],
  ['next holiday destination', 'island', 'beach'],
];

const topics = new Map(SAME_TOPIC.flatMap((attributes) => attributes.map((attribute) => [attribute, attributes[0]!])));

/**
 * What a fact and a question are about, wider than the attribute: "spare umbrella" and "umbrella" share a topic, as do
 * "wife" and "partner's name".
 */
export function topicOf(relation: Relation): string {
  const head = relation.open ? relation.attribute.split(' ').at(-1)! : relation.attribute;
  return topics.get(head) ?? head;
}

/** Identifies a topic of a subject: facts of one key could be taken for each other. */
export function topicKey(subject: Subject, relation: Relation): string {
  return `${subject.kind === 'user' ? 'user' : subject.name}|${topicOf(relation)}`;
}
