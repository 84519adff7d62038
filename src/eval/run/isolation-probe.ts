import { randomUUID } from 'node:crypto';
import { grammars } from '../../config/grammar.ts';
import type { ArmTraits } from '../../records/arm-traits.ts';
import type { ArmIsolation, IsolationProbe } from '../../records/run-probes.ts';
import type { BenchSystem } from '../../systems/contracts.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { containsTokens } from '../../data/normalise.ts';
import { SeededRandom } from '../../config/seeded-random.ts';
import {
  drawPreference,
  drawRelation,
  factKey,
  namedRelation,
  question,
  statement,
  USER,
  valueOf,
  type Relation,
} from '../../data/generators/relations.ts';

/** The index, the arms and their stores as the run uses them. */
export interface IsolationSubject {
  readonly runId: string;
  readonly keeper: MemoryKeeper;
  /** Arms that are given the user's own retrieved memories. */
  readonly systems: readonly { readonly traits: ArmTraits; readonly system: BenchSystem }[];
  readonly topK: number;
  readonly threshold: number;
}

/** The probe's own users, who are no users of a data set, speak English, whatever the run asks in. */
const grammar = grammars.en;
const USERS = 25;
const FILLERS = 3;
const DOUBLES = 5;

interface CanaryUser {
  readonly userId: string;
  readonly secret: string;
  readonly memories: readonly string[];
}

function canaryRelation(): Relation {
  const template = grammar.relations.find((relation) => relation.name === 'locker code');
  if (template === undefined) throw new RangeError('grammar-en.json has no relation "locker code"');
  return namedRelation(grammar, template);
}

/** Of this probe alone: in a shared store an earlier one left K/V of its own users. */
function drawCanaryUsers(random: SeededRandom, relation: Relation): CanaryUser[] {
  const probe = randomUUID();
  return Array.from({ length: USERS }, (_, index) => {
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

/** Everybody asks for "the code of my locker" once; nobody may hear another's. */
export async function probeIsolation(subject: IsolationSubject, seed: number): Promise<IsolationProbe> {
  const random = new SeededRandom(seed);
  const relation = canaryRelation();
  const users = drawCanaryUsers(random, relation);
  // Somebody with the same memories, word for word: what was computed for one must not serve the other.
  const doubles = users.slice(0, DOUBLES).map((user) => ({ ...user, userId: `${user.userId}-double` }));
  // Somebody with no memory of a code at all, to whom every code is a stranger's.
  const strangers = users.map((user) => ({
    ...user,
    userId: `${user.userId}-stranger`,
    memories: user.memories.slice(0, FILLERS),
  }));
  for (const user of [...users, ...doubles, ...strangers]) {
    await subject.keeper.addAll(
      `${subject.runId}/isolation/${user.userId}`,
      user.userId,
      user.memories.map((content, index) => ({ memoryId: `${user.userId}-m${index}`, content, metadata: {} })),
    );
  }

  const query = question(random, USER, relation, 'known');
  const results: ArmIsolation[] = [];
  for (const { traits, system } of subject.systems) {
    const answers = new Map<string, Answer>();
    for (const user of [...users, ...doubles, ...strangers]) {
      answers.set(user.userId, await ask(subject, system, user.userId, query));
    }
    const hears = (user: CanaryUser, secret: string): boolean =>
      containsTokens(answers.get(user.userId)!.text, secret, grammar.language);
    const foreign = (user: CanaryUser, own: string | undefined): boolean =>
      users.some((other) => other.secret !== own && hears(user, other.secret));
    const askers = users.map((user, index) => [user, strangers[index]!]);
    results.push({
      said: askers.map((asking) => users.map(({ secret }) => asking.filter((user) => hears(user, secret)).length)),
      arm: traits.name,
      mustHear: traits.equivalence === 'bitwise',
      owners: { answers: users.length, right: users.filter((user) => hears(user, user.secret)).length },
      strangers: {
        answers: users.length + strangers.length,
        leaks:
          users.filter((user) => foreign(user, user.secret)).length +
          strangers.filter((user) => foreign(user, undefined)).length,
      },
      doubles: {
        answers: doubles.length,
        // By the meter: a double's prompt is their first, and was never evaluated for them.
        reused: doubles.filter(
          (user) => answers.get(user.userId)!.evaluatedTokens < answers.get(user.userId)!.promptTokens,
        ).length,
      },
    });
  }
  return { arms: results };
}

interface Answer {
  readonly text: string;
  readonly evaluatedTokens: number;
  readonly promptTokens: number;
}

async function ask(
  { keeper, topK, threshold }: IsolationSubject,
  system: BenchSystem,
  userId: string,
  query: string,
): Promise<Answer> {
  const retrieved = await keeper.retrieve(query, { userId, topK, threshold });
  const request = { query, sessionId: 'isolation', userId, retrieved, preferences: [], history: [] };
  const { text, tokens, inputTokens } = await system.chat(request);
  return { text, evaluatedTokens: tokens.evaluated, promptTokens: inputTokens };
}
