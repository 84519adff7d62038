import { growingData, type GrowthScope } from './growing-data.ts';
import type { GrowingUser } from './growing-user.ts';
import { namesNobody, USER, type Subject } from './relations.ts';
import { topicOf } from './topics.ts';

const USERS = 60;

/**
 * Of two people a memory with their name and, right behind it, one that says "she" or "he"; between the pairs or around them one
 * of the user's own. Both pairs tell the same kind of thing, so that a "she" whose memory was never seen beside the one
 * before it could be either. Asked for what stands in one memory (condition 1) and for what takes both (condition 2).
 */
function grow(user: GrowingUser, { random, grammar }: GrowthScope): void {
  const people = random.shuffled(user.people).slice(0, 2);
  const second = user.drawFree(people);
  const own = random.int(0, people.length);
  const pairs = people.map((subject, place) => {
    if (own === place) user.remember({ subject: USER, relation: user.drawFree([USER]) });
    const named: Subject = { kind: 'pronoun', ...random.pick(grammar.voices.pronouns) };
    const first = user.drawFree([subject], (one) => namesNobody(one) && topicOf(one) !== topicOf(second));
    return [user.remember({ subject, relation: first }), user.remember({ subject, relation: second, named })] as const;
  });
  if (own === people.length) user.remember({ subject: USER, relation: user.drawFree([USER]) });
  for (const [before, memory] of pairs) {
    user.ask({ memory: before, condition: 1 });
    user.ask({ memory, before, condition: 2 });
  }
}

/** The data of suite `coreference`, one of each language. */
export const coreferenceData = growingData({ suite: 'coreference', letter: 'r', presetUsers: USERS, grow });
