import { randomUUID } from 'node:crypto';
import { grammars } from '../../config/grammar.ts';
import type { CallOptions } from '../../engine/call-options.ts';
import type { Engine } from '../../engine/engine.ts';
import { meterDifference } from '../../engine/token-meter.ts';
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

/** An arm as the run uses it. */
interface ProbedArm {
  readonly traits: ArmTraits;
  readonly system: Pick<BenchSystem, 'chat'>;
  /** Opens another system on the same store; missing where that is not to be probed. */
  readonly reopen?: () => BenchSystem;
}

/** The index, the arms and their stores as the run uses them. */
export interface IsolationSubject {
  readonly runId: string;
  readonly engine: Pick<Engine, 'meter'>;
  readonly keeper: MemoryKeeper;
  /** Arms that are given the user's own retrieved memories. */
  readonly systems: readonly ProbedArm[];
  readonly topK: number;
  readonly threshold: number;
}

/** The probe's own users, who are no users of a data set, speak English, whatever the run asks in. */
const grammar = grammars.en;
const USERS = 25;
const FILLERS = 3;
const DOUBLES = 5;
/** Of the users, those that are asked however short the run is: all that have a double. */
const LEAST_ASKERS = DOUBLES;
/** Of them, those that ask at one moment as well, and those whose double asks a system that was opened anew. */
const AT_ONCE = 3;
const REOPENED = 2;
/** A run of so many questions has one asker more. */
const QUESTIONS_AN_ASKER = 40;

/** The extent of a probe. */
export interface ProbeOptions extends CallOptions {
  /** Users who ask, five at least. Default: all. */
  readonly askers?: number;
}

/** The users who ask behind a run of so many questions, so that the probe takes a small part of it. */
export function probeAskers(questions: number): number {
  return Math.min(USERS, Math.max(LEAST_ASKERS, Math.round(questions / QUESTIONS_AN_ASKER)));
}

/** Turns that an arm takes in the probe. */
export function probeTurns(questions: number): number {
  return 2 * probeAskers(questions) + DOUBLES + 2 * AT_ONCE + 2 * REOPENED;
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
 * Everybody asks for "the code of my locker" once; nobody may hear another's. The secrets of all are planted; the first of them
 * ask: some at one moment through one system, then all one by one, then some through a system that is opened anew on the
 * same store.
 */
export async function probeIsolation(
  subject: IsolationSubject,
  seed: number,
  { askers = USERS, signal }: ProbeOptions = {},
): Promise<IsolationProbe> {
  const random = new SeededRandom(seed);
  const relation = canaryRelation();
  const users = drawCanaryUsers(random, relation);
  // Somebody with the same memories, word for word: what was computed for one must not serve the other.
  const doublesOf = (count: number, name: string): CanaryUser[] =>
    users.slice(0, count).map((user) => ({ ...user, userId: `${user.userId}-${name}` }));
  const doubles = doublesOf(DOUBLES, 'double');
  const late = doublesOf(REOPENED, 'late');
  // Somebody with no memory of a code at all, to whom every code is a stranger's.
  const strangers = users.map((user) => ({
    ...user,
    userId: `${user.userId}-stranger`,
    memories: user.memories.slice(0, FILLERS),
  }));
  for (const user of [...users, ...doubles, ...late, ...strangers]) {
    signal?.throwIfAborted();
    await subject.keeper.addAll(
      `${isolationSessions(subject.runId)}${user.userId}`,
      user.userId,
      user.memories.map((content, index) => ({ memoryId: memoryIdOf(user, index), content, metadata: {} })),
    );
  }

  const asked = Math.max(askers, LEAST_ASKERS);
  const who: Askers = { users, owners: users.slice(0, asked), strangers: strangers.slice(0, asked), doubles, late };
  const query = question(random, USER, relation, 'known');
  const arms: ArmIsolation[] = [];
  for (const arm of subject.systems) {
    const asking = (system: ProbedArm['system']) => (user: CanaryUser) => ask(subject, system, user, query, signal);
    arms.push(found(arm.traits, who, await answersOf(arm, who, asking)));
  }
  return { arms };
}

/** Every answer of one arm, by stage. */
interface Answers {
  readonly atOnce: ReadonlyMap<CanaryUser, Answer>;
  readonly oneByOne: ReadonlyMap<CanaryUser, Answer>;
  readonly reopened: ReadonlyMap<CanaryUser, Answer>;
}

async function answersOf(
  { system, reopen }: ProbedArm,
  { owners, strangers, doubles, late }: Askers,
  asking: (system: ProbedArm['system']) => (user: CanaryUser) => Promise<Answer>,
): Promise<Answers> {
  const together = [...owners.slice(0, AT_ONCE), ...strangers.slice(0, AT_ONCE)];
  const answers = await Promise.all(together.map(asking(system)));
  const atOnce = new Map(together.map((user, index) => [user, answers[index]!]));
  const inTurn = async (
    through: ProbedArm['system'],
    users: readonly CanaryUser[],
  ): Promise<Map<CanaryUser, Answer>> => {
    const given = new Map<CanaryUser, Answer>();
    for (const user of users) given.set(user, await asking(through)(user));
    return given;
  };
  // An owner before their double, whom the owner's K/V must not serve.
  const round = owners.flatMap((owner, index) => [owner, ...doubles.slice(index, index + 1), strangers[index]!]);
  const oneByOne = await inTurn(system, round);
  if (reopen === undefined) return { atOnce, oneByOne, reopened: new Map() };
  await using other = reopen();
  return { atOnce, oneByOne, reopened: await inTurn(other, [...late, ...strangers.slice(0, REOPENED)]) };
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
  /** Doubles who ask after all others. */
  readonly late: readonly CanaryUser[];
}

/** What one arm told. */
function found(
  traits: ArmTraits,
  { users, owners, strangers, doubles, late }: Askers,
  { atOnce, oneByOne, reopened }: Answers,
): ArmIsolation {
  type Given = ReadonlyMap<CanaryUser, Answer>;
  const hears = (answers: Given, user: CanaryUser, secret: string): boolean =>
    containsTokens(answers.get(user)?.text ?? '', secret, grammar.language);
  /** Those who heard somebody else's; who has no code has none of their own. */
  const leaks = (answers: Given): number =>
    [...answers.keys()].filter((user) => {
      const own = strangers.includes(user) ? undefined : user.secret;
      return users.some((other) => other.secret !== own && hears(answers, user, other.secret));
    }).length;
  // By the meter: a double's prompt is their first, and was never evaluated for them.
  const reused = (answers: Given, of: readonly CanaryUser[]): number =>
    of.filter((user) => {
      const answer = answers.get(user);
      return answer !== undefined && answer.evaluatedTokens < answer.promptTokens;
    }).length;
  const own = new Map([...oneByOne].filter(([user]) => !doubles.includes(user)));
  const askers = owners.map((user, index) => [user, strangers[index]!]);
  return {
    said: askers.map((asking) =>
      owners.map(({ secret }) => asking.filter((user) => hears(oneByOne, user, secret)).length),
    ),
    arm: traits.name,
    mustHear: traits.equivalence === 'bitwise',
    owners: { answers: owners.length, right: owners.filter((user) => hears(oneByOne, user, user.secret)).length },
    strangers: { answers: own.size, leaks: leaks(own) },
    doubles: { answers: doubles.length, reused: reused(oneByOne, doubles) },
    atOnce: { answers: atOnce.size, leaks: leaks(atOnce) },
    reopened: { answers: reopened.size, leaks: leaks(reopened), reused: reused(reopened, late) },
  };
}

interface Answer {
  readonly text: string;
  /** By the engine's meter: of all who ask at that moment. */
  readonly evaluatedTokens: number;
  readonly promptTokens: number;
}

async function ask(
  { engine, keeper, topK, threshold }: IsolationSubject,
  system: Pick<BenchSystem, 'chat'>,
  user: CanaryUser,
  query: string,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { userId, memories } = user;
  // A list of the memories of the asker alone, the secret first, for the strategy that is given one.
  const passages = memories.map((_, index) => memoryIdOf(user, index)).reverse();
  const retrieved = await keeper.retrieve(query, { userId, topK, threshold, passages });
  const request = { query, sessionId: 'isolation', userId, retrieved, preferences: [], history: [] };
  const before = await engine.meter();
  const { text, tokens, inputTokens } = await system.chat({ ...request, ...(signal && { signal }) });
  signal?.throwIfAborted();
  const { evaluated } = meterDifference(await engine.meter(), before);
  return { text, evaluatedTokens: evaluated ?? tokens.evaluated, promptTokens: inputTokens };
}
