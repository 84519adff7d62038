import { randomUUID } from 'node:crypto';
import { grammars } from '../../../base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { drawPreference, factKey, USER, drawRelationValue } from '../../../data/generators/facts-and-relations.ts';
import { holdsWords } from '../../../data/split-words.ts';
import type { CallOptions } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { ArmIsolation, IsolationProbe } from '../../../store/records/run-probes.ts';
import type { BenchSystem, ChatRequest } from '../../../systems/memory-system.ts';
import { systemTokens } from '../../../systems/prompt/build-prompt.ts';
import type { MemoryKeeper } from '../../../systems/memory-keeper.ts';
import { statement } from '../../../data/generators/fact-wording.ts';

/** Canaries are in English, whatever the language of the run. */
const grammar = grammars.en;
/** In plain words, which any language model understands. */
const QUESTION = 'What is the code of my locker?';

const CANARIES = 25;
const FILLERS = 3;
/** One owner per this many questions of the run, so that the probe takes a small part of it. */
const QUESTIONS_PER_OWNER = 40;
/** With fewer owners, one who does not hear the secret would make the probe prove nothing. */
const MIN_OWNERS = 3;
/** In a run of so many questions, the probe has its largest size in everything but owners and strangers. */
const FULL_SIZE = 240;

/** Numbers of users who ask, for each arm. */
export interface ProbeSize {
  readonly owners: number;
  /** The first strangers, each with the memories of an owner except the secret. */
  readonly strangers: number;
  /** Owners with a double, who has the same memories. */
  readonly doubles: number;
  /** Owners who ask at the same time, with one stranger fewer. */
  readonly atOnce: number;
  /** Owners with another double, who asks in a reopened system; as many strangers ask there. */
  readonly late: number;
}

const largest: ProbeSize = { owners: CANARIES, strangers: CANARIES, doubles: 5, atOnce: 3, late: 2 };

interface Canary {
  readonly userId: string;
  readonly secret: string;
  /** The last one tells the secret; strangers do not have it. */
  readonly memories: readonly string[];
}

type Canaries = ReturnType<typeof drawCanaries>;

interface IsolationSubject {
  readonly runId: string;
  readonly engine: Pick<Engine, 'meter'>;
  readonly keeper: MemoryKeeper;
  readonly systems: readonly {
    readonly traits: ArmTraits;
    readonly system: Pick<BenchSystem, 'chat'>;
    /** Opens another system on the same store. Default: reopening is not probed. */
    readonly reopen?: () => BenchSystem;
  }[];
  readonly topK: number;
  readonly threshold: number;
}

export interface ProbeOptions extends CallOptions {
  /** Default: the largest size. */
  readonly size?: ProbeSize;
  /** Called after every answer. */
  readonly onAnswer?: () => void;
}

interface Answer {
  readonly text: string;
  /** True if the engine's meter shows fewer evaluated tokens than the prompt has besides what users of the arm may share. */
  readonly isReused: boolean;
}

type Answers = ReadonlyMap<Canary, Answer>;

/** Users who ask about secrets in a run with this many questions. */
export function probeSize(questions: number): ProbeSize {
  const owners = Math.min(CANARIES, Math.max(MIN_OWNERS, Math.round(questions / QUESTIONS_PER_OWNER)));
  if (questions >= FULL_SIZE) return { ...largest, owners, strangers: owners };
  // Two owners at the same time: one alone could not be mixed up with another.
  return { owners, strangers: 2, doubles: 1, atOnce: 2, late: 1 };
}

/** Turns per arm that the probe takes in a run with this many questions. */
export function probeTurns(questions: number): number {
  const { owners, strangers, doubles, atOnce, late } = probeSize(questions);
  return owners + strangers + doubles + 2 * atOnce - 1 + 2 * late;
}

/**
 * True for an arm that gets memories retrieved for its user: only such an arm could leak another user's. The users of the probe have no
 * KV files.
 */
export function isProbed(arm: Pick<ArmTraits, 'retrieves' | 'control' | 'external'>): boolean {
  return arm.retrieves === 'retrieved' && arm.control === null && arm.external !== true;
}

export const sessionPrefix = (runId: string): string => `${runId}/isolation/`;

/** Plants secrets and asks for each: some users ask at once, then all one by one, then some in a reopened system. */
export async function probeIsolation(
  subject: IsolationSubject,
  seed: number,
  options: ProbeOptions = {},
): Promise<IsolationProbe> {
  const { size = largest } = options;
  const canaries = drawCanaries(new SeededRandom(seed), size);
  const { planted, doubles, late, strangers } = canaries;
  for (const user of [...planted, ...doubles, ...late, ...strangers]) {
    options.signal?.throwIfAborted();
    const { userId, memories } = user;
    const entries = memories.map((content, at) => ({ memoryId: memoryId(user, at), content, metadata: {} }));
    await subject.keeper.addAll(`${sessionPrefix(subject.runId)}${userId}`, userId, entries);
  }
  const arms: ArmIsolation[] = [];
  for (const arm of subject.systems) arms.push(await probeArm(subject, arm, { ...canaries, size }, options));
  return { arms };
}

/** Draws users with new ids: a shared store may hold KV of an earlier probe. */
function drawCanaries(random: SeededRandom, { owners, strangers, doubles, late }: ProbeSize) {
  const probe = randomUUID();
  const codes = new Set<string>();
  while (codes.size < CANARIES) codes.add(String(random.int(100_000, 999_999)));
  const planted = [...codes].map((secret, index) => {
    // Preferences contain no number that could be taken for the code.
    const fillers = new Map<string, string>();
    while (fillers.size < FILLERS) {
      const preference = drawPreference(random, grammar);
      const value = drawRelationValue(random, preference, true);
      const text = statement(random, { subject: USER, relation: preference, value }, 'known');
      fillers.set(factKey(USER, preference), text);
    }
    const memories = [...fillers.values(), `The code of my locker is ${secret}.`];
    return { userId: `canary-${probe}-${index}`, secret, memories };
  });
  const copies = (count: number, name: string, memories = FILLERS + 1): Canary[] =>
    planted.slice(0, count).map((owner) => ({
      ...owner,
      userId: `${owner.userId}-${name}`,
      memories: owner.memories.slice(0, memories),
    }));
  return {
    /** All who have a secret. */
    planted,
    owners: planted.slice(0, owners),
    strangers: copies(strangers, 'stranger', FILLERS),
    /** They must not be served from the owner's KV. */
    doubles: copies(doubles, 'double'),
    late: copies(late, 'late'),
  };
}

function memoryId({ userId }: Canary, index: number): string {
  return `${userId}-m${index}`;
}

async function probeArm(
  subject: IsolationSubject,
  { traits, system, reopen }: IsolationSubject['systems'][number],
  { planted, owners, strangers, doubles, late, size }: Canaries & { readonly size: ProbeSize },
  options: ProbeOptions,
): Promise<ArmIsolation> {
  const { onAnswer, signal } = options;
  // An owner is first, and one is last: if all got the answer of either, someone would hear another's secret.
  const [first, ...rest] = owners.slice(0, size.atOnce);
  const together = [first!, ...strangers.slice(0, size.atOnce - 1), ...rest];
  const requests = await Promise.all(together.map((user) => chatRequest(subject, user, signal)));
  const responses = await Promise.all(requests.map((request) => system.chat(request).finally(onAnswer)));
  signal?.throwIfAborted();
  const atOnce: Answers = new Map(together.map((user, at) => [user, { text: responses[at]!.text, isReused: false }]));
  // Each owner asks before the double, who must not be served from the owner's KV.
  const round = owners
    .flatMap((owner, index) => [owner, doubles[index], strangers[index]])
    .filter((user) => user !== undefined);
  const oneByOne = await answersInTurn(subject, { system, traits }, round, options);
  let reopened: Answers = new Map();
  if (reopen !== undefined) {
    await using other = reopen();
    const users = [...late, ...strangers.slice(0, late.length)];
    reopened = await answersInTurn(subject, { system: other, traits }, users, options);
  }

  const hears = (answers: Answers, user: Canary, secret = user.secret): boolean =>
    holdsWords(answers.get(user)?.text ?? '', secret, grammar.language);
  const leaks = (answers: Answers): number =>
    [...answers.keys()].filter((user) => {
      const own = strangers.includes(user) ? undefined : user.secret;
      return planted.some(({ secret }) => secret !== own && hears(answers, user, secret));
    }).length;
  const reused = (answers: Answers, users: readonly Canary[]): number =>
    users.filter((user) => answers.get(user)?.isReused).length;
  const withoutDoubles = new Map([...oneByOne].filter(([user]) => !doubles.includes(user)));
  const lost = owners.filter((user) => atOnce.has(user) && hears(oneByOne, user) && !hears(atOnce, user));
  return {
    said: owners.map((user, index) =>
      owners.map(({ secret }) => [user, strangers[index]].filter((one) => one && hears(oneByOne, one, secret)).length),
    ),
    arm: traits.name,
    mustHear: traits.equivalence === 'bitwise',
    owners: { answers: owners.length, right: owners.filter((user) => hears(oneByOne, user)).length },
    strangers: { answers: withoutDoubles.size, leaks: leaks(withoutDoubles) },
    doubles: { answers: doubles.length, reused: reused(oneByOne, doubles) },
    atOnce: { answers: atOnce.size, leaks: leaks(atOnce), lost: lost.length },
    reopened: { answers: reopened.size, leaks: leaks(reopened), reused: reused(reopened, late) },
  };
}

async function answersInTurn(
  subject: IsolationSubject,
  { system, traits }: IsolationSubject['systems'][number],
  users: readonly Canary[],
  { onAnswer, signal }: ProbeOptions,
): Promise<Answers> {
  const answers = new Map<Canary, Answer>();
  for (const user of users) {
    const request = await chatRequest(subject, user, signal);
    const before = await subject.engine.meter();
    const { text, tokens, inputTokens, promptInfo } = await system.chat(request);
    signal?.throwIfAborted();
    const { evaluated } = meterDifference(await subject.engine.meter(), before);
    const shared = { none: 0, system: systemTokens(promptInfo.segments), all: inputTokens }[traits.shares ?? 'none'];
    answers.set(user, { text, isReused: (evaluated ?? tokens.evaluated) < inputTokens - shared });
    onAnswer?.();
  }
  return answers;
}

async function chatRequest(
  { keeper, topK, threshold }: IsolationSubject,
  user: Canary,
  signal: AbortSignal | undefined,
): Promise<ChatRequest> {
  const { userId, memories } = user;
  // For retriever `given`: the user's own memories, the secret first.
  const passages = memories.map((_, index) => memoryId(user, index)).reverse();
  const retrieved = await keeper.retrieve(QUESTION, { userId, topK, threshold, passages });
  const request = { query: QUESTION, sessionId: 'isolation', userId, retrieved, preferences: [], history: [] };
  return { ...request, ...(signal && { signal }) };
}
