import type { GrowingUser } from './growing-user.ts';
import { namesNoPerson, relationTopic, USER, type Subject } from './facts-and-relations.ts';
import { growingUserGenerators, type GrowthScope } from './growing-user-generators.ts';

const USERS = 60;

/**
 * Adds two pairs of memories: the first names a person, the second says "she" or "he". A memory about the user comes
 * before, between or after them. Both pairs state the same relation, so that a pronoun is ambiguous without the memory
 * before it. Questions need one memory (condition 1) or both of a pair (condition 2).
 */
function grow(user: GrowingUser, { random, grammar }: GrowthScope): void {
  const people = random.shuffled(user.people).slice(0, 2);
  const second = user.drawFree(people);
  const own = random.int(0, people.length);
  const pairs = people.map((subject, place) => {
    if (own === place) user.remember({ subject: USER, relation: user.drawFree([USER]) });
    const named: Subject = { kind: 'pronoun', ...random.pick(grammar.voices.pronouns) };
    const first = user.drawFree([subject], (one) => namesNoPerson(one) && relationTopic(one) !== relationTopic(second));
    return [user.remember({ subject, relation: first }), user.remember({ subject, relation: second, named })] as const;
  });
  if (own === people.length) user.remember({ subject: USER, relation: user.drawFree([USER]) });
  for (const [before, memory] of pairs) {
    user.ask({ memory: before, condition: 1 });
    user.ask({ memory, before, condition: 2 });
  }
}

export const coreferenceData = growingUserGenerators({ suite: 'coreference', letter: 'r', presetUsers: USERS, grow });
