import { randomUUID } from 'node:crypto';
import { grammars } from '../../config/grammar.ts';
import type { SeededRandom } from '../../config/seeded-random.ts';
import {
  drawPreference,
  drawRelation,
  factKey,
  namedRelation,
  question,
  type Relation,
  statement,
  USER,
  valueOf,
} from '../../data/generators/relations.ts';

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
  const relation = canaryRelation();
  const owners = drawOwners(random, relation);
  const doublesOf = (count: number, name: string): CanaryUser[] =>
    owners.slice(0, count).map((user) => ({ ...user, userId: `${user.userId}-${name}` }));
  return {
    query: question(random, USER, relation, 'known'),
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

function canaryRelation(): Relation {
  const template = grammar.relations.find((relation) => relation.name === 'locker code');
  if (template === undefined) throw new RangeError('grammar-en.json has no relation "locker code"');
  return namedRelation(grammar, template);
}

function drawOwners(random: SeededRandom, relation: Relation): CanaryUser[] {
  const probe = randomUUID();
  return Array.from({ length: CANARIES }, (_, index) => {
    const secret = valueOf(random, relation, true);
    const fillers = new Map<string, string>();
    while (fillers.size < FILLERS) {
      const other = fillers.size === 0 ? drawPreference(random, grammar) : drawRelation(random, grammar, 0, true);
      if (other.attribute === relation.attribute) continue;
      fillers.set(factKey(USER, other), statement(random, USER, other, valueOf(random, other, true), 'known'));
    }
    return {
      userId: `canary-${probe}-${index}`,
      secret,
      memories: [...fillers.values(), statement(random, USER, relation, secret, 'known')],
    };
  });
}
