import { randomUUID } from 'node:crypto';
import { grammars } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { drawPreference, factKey, statement, USER, valueOf } from '../../data/generators/relations.ts';

/** Canaries are no users of a data set, and speak English, whatever the run asks in. */
const grammar = grammars.en;
export const canaryLanguage = grammar.language;

/** Users with a secret each. */
export const CANARIES = 25;
/** Of them, those that have a double, and those whose double asks last. */
export const DOUBLES = 5;
export const LATE_DOUBLES = 2;
const FILLERS = 3;

/** A user of the isolation probe. */
export interface CanaryUser {
  readonly userId: string;
  readonly secret: string;
  /** The secret is the last, but with strangers, who have none. */
  readonly memories: readonly string[];
}

/** All users of a probe, and what each of them asks: "the code of my locker". */
export interface Canaries {
  readonly query: string;
  /** Those whose secrets are planted. */
  readonly owners: readonly CanaryUser[];
  /** By owner: somebody with the owner's memories but the secret, to whom every code is a stranger's. */
  readonly strangers: readonly CanaryUser[];
  /** Of the first owners: somebody with the same memories, word for word, whom the owner's K/V must not serve. */
  readonly doubles: readonly CanaryUser[];
  /** Doubles who ask after all others. */
  readonly late: readonly CanaryUser[];
}

/** Draws users of one probe alone: in a shared store an earlier one left K/V of its own. */
export function drawCanaries(random: SeededRandom): Canaries {
  const owners = drawOwners(random);
  const doublesOf = (count: number, name: string): CanaryUser[] =>
    owners.slice(0, count).map((user) => ({ ...user, userId: `${user.userId}-${name}` }));
  return {
    query: QUESTION,
    owners,
    strangers: owners.map((user) => ({
      ...user,
      userId: `${user.userId}-stranger`,
      memories: user.memories.slice(0, FILLERS),
    })),
    doubles: doublesOf(DOUBLES, 'double'),
    late: doublesOf(LATE_DOUBLES, 'late'),
  };
}

/** The id of a memory of a canary. */
export function canaryMemoryId({ userId }: CanaryUser, index: number): string {
  return `${userId}-m${index}`;
}

/** In plain words, which a model of natural language knows as well as one that was made for the grammar. */
const QUESTION = 'What is the code of my locker?';
const told = (code: string): string => `The code of my locker is ${code}.`;

function drawOwners(random: SeededRandom): CanaryUser[] {
  const probe = randomUUID();
  const codes = new Set<string>();
  while (codes.size < CANARIES) codes.add(String(random.int(100_000, 999_999)));
  return [...codes].map((secret, index) => {
    // Preferences hold no number that could be taken for the code.
    const fillers = new Map<string, string>();
    while (fillers.size < FILLERS) {
      const preference = drawPreference(random, grammar);
      const value = valueOf(random, preference, true);
      fillers.set(factKey(USER, preference), statement(random, USER, preference, value, 'known'));
    }
    return { userId: `canary-${probe}-${index}`, secret, memories: [...fillers.values(), told(secret)] };
  });
}
