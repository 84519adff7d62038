import type { CallOptions } from '../../engine/engine-session.ts';
import type { Engine } from '../../engine/engine.ts';
import { meterDifference } from '../../engine/token-meter.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { ArmIsolation, IsolationProbe } from '../../store/records/run-probes.ts';
import type { BenchSystem, ChatRequest } from '../../systems/contracts.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { containsTokens } from '../../data/normalise.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import {
  CANARIES,
  type Canaries,
  canaryLanguage,
  canaryMemoryId,
  type CanaryUser,
  DOUBLES,
  drawCanaries,
  LATE_DOUBLES,
} from './canary-users.ts';

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

/** Of the users, those that are asked however short the run is: all that have a double. */
const LEAST_ASKERS = DOUBLES;
/** Of them, those that ask at one moment as well. */
const AT_ONCE = 3;
/** A run of so many questions has one asker more. */
const QUESTIONS_AN_ASKER = 40;

/** The extent of a probe. */
export interface ProbeOptions extends CallOptions {
  /** Users who ask, five at least. Default: all. */
  readonly askers?: number;
}

/** The users who ask behind a run of so many questions, so that the probe takes a small part of it. */
export function probeAskers(questions: number): number {
  return Math.min(CANARIES, Math.max(LEAST_ASKERS, Math.round(questions / QUESTIONS_AN_ASKER)));
}

/** Turns that an arm takes in the probe. */
export function probeTurns(questions: number): number {
  return 2 * probeAskers(questions) + DOUBLES + 2 * AT_ONCE + 2 * LATE_DOUBLES;
}

/** The beginning of the ids of all sessions of a run's probe. */
export const isolationSessions = (runId: string): string => `${runId}/isolation/`;

/**
 * Everybody asks for "the code of my locker" once; nobody may hear another's. The secrets of all are planted; the first of them
 * ask: some at one moment through one system, then all one by one, then some through a system that is opened anew on the
 * same store.
 */
export async function probeIsolation(
  subject: IsolationSubject,
  seed: number,
  { askers = CANARIES, signal }: ProbeOptions = {},
): Promise<IsolationProbe> {
  const canaries = drawCanaries(new SeededRandom(seed));
  const { owners, strangers, doubles, late } = canaries;
  for (const user of [...owners, ...doubles, ...late, ...strangers]) {
    signal?.throwIfAborted();
    await subject.keeper.addAll(
      `${isolationSessions(subject.runId)}${user.userId}`,
      user.userId,
      user.memories.map((content, index) => ({ memoryId: canaryMemoryId(user, index), content, metadata: {} })),
    );
  }
  const asked = Math.max(askers, LEAST_ASKERS);
  const who: Askers = {
    ...{ canaries, doubles, late },
    owners: owners.slice(0, asked),
    strangers: strangers.slice(0, asked),
  };
  const arms: ArmIsolation[] = [];
  for (const arm of subject.systems) arms.push(found(arm.traits, who, await answersOf(subject, arm, who, signal)));
  return { arms };
}

/** Those who ask. */
interface Askers extends Pick<Canaries, 'owners' | 'strangers' | 'doubles' | 'late'> {
  /** All whose secrets were planted. */
  readonly canaries: Canaries;
}

type Said = Pick<Answer, 'text'>;

/** Every answer of one arm, by stage. */
interface Answers {
  readonly atOnce: ReadonlyMap<CanaryUser, Said>;
  readonly oneByOne: ReadonlyMap<CanaryUser, Answer>;
  readonly reopened: ReadonlyMap<CanaryUser, Answer>;
}

async function answersOf(
  subject: IsolationSubject,
  { system, reopen }: ProbedArm,
  { canaries: { query }, owners, strangers, doubles, late }: Askers,
  signal: AbortSignal | undefined,
): Promise<Answers> {
  // First and last is an owner: where all are answered as one of them is, others hear a secret.
  const [first, ...rest] = owners.slice(0, AT_ONCE);
  const together = [first!, ...strangers.slice(0, AT_ONCE), ...rest];
  const atOnce = await answersAtOnce(subject, system, together, query, signal);
  const inTurn = async (
    through: ProbedArm['system'],
    users: readonly CanaryUser[],
  ): Promise<Map<CanaryUser, Answer>> => {
    const given = new Map<CanaryUser, Answer>();
    for (const user of users) given.set(user, await ask(subject, through, user, query, signal));
    return given;
  };
  // An owner before their double, whom the owner's K/V must not serve.
  const round = owners.flatMap((owner, index) => [owner, ...doubles.slice(index, index + 1), strangers[index]!]);
  const oneByOne = await inTurn(system, round);
  if (reopen === undefined) return { atOnce, oneByOne, reopened: new Map() };
  await using other = reopen();
  return { atOnce, oneByOne, reopened: await inTurn(other, [...late, ...strangers.slice(0, late.length)]) };
}

/** Findings of one arm. */
function found(
  traits: ArmTraits,
  { canaries, owners, strangers, doubles, late }: Askers,
  { atOnce, oneByOne, reopened }: Answers,
): ArmIsolation {
  const hears = (answers: ReadonlyMap<CanaryUser, Said>, user: CanaryUser, secret: string): boolean =>
    containsTokens(answers.get(user)?.text ?? '', secret, canaryLanguage);
  /** Those who heard somebody else's; who has no code has none of their own. */
  const leaks = (answers: ReadonlyMap<CanaryUser, Said>): number =>
    [...answers.keys()].filter((user) => {
      const own = strangers.includes(user) ? undefined : user.secret;
      return canaries.owners.some((other) => other.secret !== own && hears(answers, user, other.secret));
    }).length;
  // By the meter: a double's prompt is their first, and was never evaluated for them.
  const reused = (answers: Answers['oneByOne'], of: readonly CanaryUser[]): number =>
    of.filter((user) => {
      const answer = answers.get(user);
      return answer !== undefined && answer.evaluatedTokens < answer.promptTokens;
    }).length;
  const own = new Map([...oneByOne].filter(([user]) => !doubles.includes(user)));
  const askers = owners.map((user, index) => [user, strangers[index]!]);
  const hearsOwn = (answers: ReadonlyMap<CanaryUser, Said>, user: CanaryUser): boolean =>
    hears(answers, user, user.secret);
  const lost = owners.filter((user) => atOnce.has(user) && hearsOwn(oneByOne, user) && !hearsOwn(atOnce, user));
  return {
    said: askers.map((asking) =>
      owners.map(({ secret }) => asking.filter((user) => hears(oneByOne, user, secret)).length),
    ),
    arm: traits.name,
    mustHear: traits.equivalence === 'bitwise',
    owners: { answers: owners.length, right: owners.filter((user) => hearsOwn(oneByOne, user)).length },
    strangers: { answers: own.size, leaks: leaks(own) },
    doubles: { answers: doubles.length, reused: reused(oneByOne, doubles) },
    atOnce: { answers: atOnce.size, leaks: leaks(atOnce), lost: lost.length },
    reopened: { answers: reopened.size, leaks: leaks(reopened), reused: reused(reopened, late) },
  };
}

interface Answer {
  readonly text: string;
  /** By the engine's meter. */
  readonly evaluatedTokens: number;
  readonly promptTokens: number;
}

/** Asks for all at one moment: retrieval at once, then, when each has what is theirs, the calls of the system. */
async function answersAtOnce(
  subject: IsolationSubject,
  system: ProbedArm['system'],
  users: readonly CanaryUser[],
  query: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<CanaryUser, Said>> {
  const requests = await Promise.all(users.map((user) => requestOf(subject, user, query, signal)));
  const responses = await Promise.all(requests.map((request) => system.chat(request)));
  signal?.throwIfAborted();
  return new Map(users.map((user, index) => [user, responses[index]!]));
}

async function ask(
  subject: IsolationSubject,
  system: ProbedArm['system'],
  user: CanaryUser,
  query: string,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { engine } = subject;
  const request = await requestOf(subject, user, query, signal);
  const before = await engine.meter();
  const { text, tokens, inputTokens } = await system.chat(request);
  signal?.throwIfAborted();
  const { evaluated } = meterDifference(await engine.meter(), before);
  return { text, evaluatedTokens: evaluated ?? tokens.evaluated, promptTokens: inputTokens };
}

async function requestOf(
  { keeper, topK, threshold }: IsolationSubject,
  user: CanaryUser,
  query: string,
  signal: AbortSignal | undefined,
): Promise<ChatRequest> {
  const { userId, memories } = user;
  // A list of the memories of the asker alone, the secret first, for the strategy that is given one.
  const passages = memories.map((_, index) => canaryMemoryId(user, index)).reverse();
  const retrieved = await keeper.retrieve(query, { userId, topK, threshold, passages });
  return { query, sessionId: 'isolation', userId, retrieved, preferences: [], history: [], ...(signal && { signal }) };
}
