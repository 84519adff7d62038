import { randomUUID } from 'node:crypto';
import { grammars } from '../../config/grammar.ts';
import type { CallOptions } from '../../engine/call-options.ts';
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
/** Of the users, those that are asked however slow the model is: all that have a double. */
const LEAST_ASKED = DOUBLES;
/** In this time a quick model asks all of them. */
const LEAST_BUDGET_MS = 120_000;
/** Of the time that the run's turns took. */
const SHARE = 0.08;

/** The extent of a probe. */
export interface ProbeOptions extends CallOptions {
  /** After so long nobody else is asked. Default: everybody is. */
  readonly budgetMs?: number;
}

/** The most that the probe takes behind turns that took so long. */
export function probeBudgetMs(turnsMs: number): number {
  return Math.max(LEAST_BUDGET_MS, SHARE * turnsMs);
}

/** The beginning of the ids of all sessions of a run's probe. */
export const isolationSessions = (runId: string): string => `${runId}/isolation/`;

interface CanaryUser {
  readonly userId: string;
  readonly secret: string;
  /** The secret is the last. */
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

/**
 * Everybody asks for "the code of my locker" once; nobody may hear another's. The secrets of all are planted; where the model
 * is slow, the first of them ask alone, at least five, and their number is that of the evidence.
 */
export async function probeIsolation(
  subject: IsolationSubject,
  seed: number,
  { budgetMs = Infinity, signal }: ProbeOptions = {},
): Promise<IsolationProbe> {
  const start = performance.now();
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
    signal?.throwIfAborted();
    await subject.keeper.addAll(
      `${isolationSessions(subject.runId)}${user.userId}`,
      user.userId,
      user.memories.map((content, index) => ({ memoryId: memoryIdOf(user, index), content, metadata: {} })),
    );
  }

  const query = question(random, USER, relation, 'known');
  const answers = subject.systems.map(() => new Map<string, Answer>());
  let asked = 0;
  while (asked < users.length && (asked < LEAST_ASKED || performance.now() - start < budgetMs)) {
    // An owner before their double, whom the owner's K/V must not serve.
    const round = [users[asked], doubles[asked], strangers[asked]].filter((user) => user !== undefined);
    for (const [index, { system }] of subject.systems.entries()) {
      for (const user of round) {
        answers[index]!.set(user.userId, await ask(subject, system, user, query, signal));
      }
    }
    asked++;
  }
  const who = { users, owners: users.slice(0, asked), strangers: strangers.slice(0, asked), doubles };
  return { arms: subject.systems.map(({ traits }, index) => found(traits, who, answers[index]!)) };
}

function memoryIdOf({ userId }: CanaryUser, index: number): string {
  return `${userId}-m${index}`;
}

interface Askers {
  /** All whose secrets were planted. */
  readonly users: readonly CanaryUser[];
  /** Those of them who asked. */
  readonly owners: readonly CanaryUser[];
  readonly strangers: readonly CanaryUser[];
  readonly doubles: readonly CanaryUser[];
}

/** What one arm told. */
function found(
  traits: ArmTraits,
  { users, owners, strangers, doubles }: Askers,
  answers: ReadonlyMap<string, Answer>,
): ArmIsolation {
  const hears = (user: CanaryUser, secret: string): boolean =>
    containsTokens(answers.get(user.userId)!.text, secret, grammar.language);
  const foreign = (user: CanaryUser, own: string | undefined): boolean =>
    users.some((other) => other.secret !== own && hears(user, other.secret));
  const askers = owners.map((user, index) => [user, strangers[index]!]);
  return {
    said: askers.map((asking) => owners.map(({ secret }) => asking.filter((user) => hears(user, secret)).length)),
    arm: traits.name,
    mustHear: traits.equivalence === 'bitwise',
    owners: { answers: owners.length, right: owners.filter((user) => hears(user, user.secret)).length },
    strangers: {
      answers: owners.length + strangers.length,
      leaks:
        owners.filter((user) => foreign(user, user.secret)).length +
        strangers.filter((user) => foreign(user, undefined)).length,
    },
    doubles: {
      answers: doubles.length,
      // By the meter: a double's prompt is their first, and was never evaluated for them.
      reused: doubles.filter(
        (user) => answers.get(user.userId)!.evaluatedTokens < answers.get(user.userId)!.promptTokens,
      ).length,
    },
  };
}

interface Answer {
  readonly text: string;
  readonly evaluatedTokens: number;
  readonly promptTokens: number;
}

async function ask(
  { keeper, topK, threshold }: IsolationSubject,
  system: BenchSystem,
  user: CanaryUser,
  query: string,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { userId, memories } = user;
  // A list of the memories of the asker alone, the secret first, for the strategy that is given one.
  const passages = memories.map((_, index) => memoryIdOf(user, index)).reverse();
  const retrieved = await keeper.retrieve(query, { userId, topK, threshold, passages });
  const request = { query, sessionId: 'isolation', userId, retrieved, preferences: [], history: [] };
  const { text, tokens, inputTokens } = await system.chat({ ...request, ...(signal && { signal }) });
  signal?.throwIfAborted();
  return { text, evaluatedTokens: tokens.evaluated, promptTokens: inputTokens };
}
