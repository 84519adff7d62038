import { setMaxListeners } from 'node:events';
import { batches } from '../../../base/batches.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import type { Trace } from '../../../kv/traffic/trace.ts';
import type { HistoryMessage } from '../../../store/records/prompt-info.ts';
import type { ChatRequest, ChatResponse, MemorySystem } from '../../../systems/memory-system.ts';
import { mean } from '../../analysis/statistics/observations.ts';
import { itemQuestion } from '../data-to-system-input.ts';

export const CONVERSATION_TURNS = 5;
/** Mean pause between turns of a conversation, in units of the mean gap between turns of all conversations. */
const PAUSE_GAPS = 5;

export interface PlannedTurn {
  /** Index of its conversation, from 0. */
  readonly conversation: number;
  readonly user: DatasetUser;
  readonly item: DatasetItem;
  /** Planned arrival, in mean gaps between turns: at λ turns a second a gap is 1/λ s. In seconds for a replayed trace. */
  readonly at: number;
}

/** A turn of a load as it was served; times in milliseconds since the load began. */
export interface ServedTurn {
  readonly turn: PlannedTurn;
  readonly plannedMs: number;
  readonly outcome:
    | { readonly firstTokenMs: number; readonly doneMs: number; readonly response: ChatResponse }
    | { readonly doneMs: number; readonly error: unknown };
}

/**
 * Plans conversations of five turns, which begin as a Poisson process and have exponential pauses.
 * @param recurrence share of later turns that repeat a question @returns in the order of arrival, the first at 0
 */
export function planLoad(users: readonly DatasetUser[], recurrence: number, seed: number): PlannedTurn[] {
  const random = new SeededRandom(seed);
  const exponential = (): number => -Math.log(1 - random.float());
  const conversations = random.shuffled(
    users.flatMap((user) => batches(user.items, CONVERSATION_TURNS).map((fresh) => ({ user, fresh }))),
  );
  let start = 0;
  const turns = conversations.flatMap(({ user, fresh }, conversation) => {
    if (conversation > 0) start += CONVERSATION_TURNS * exponential();
    const items: DatasetItem[] = [];
    let next = 0;
    for (const _ of fresh) items.push(next > 0 && random.chance(recurrence) ? random.pick(items) : fresh[next++]!);
    let at = start;
    return items.map((item, index): PlannedTurn => {
      if (index > 0) at += PAUSE_GAPS * exponential();
      return { conversation, user, item, at };
    });
  });
  return turns.sort((a, b) => a.at - b.at);
}

/** Users of a trace as users of the data set, and what they have asked so far. */
interface Asker {
  readonly user: DatasetUser;
  /** By the memories of the trace's prompts, in order. */
  readonly asked: Map<string, DatasetItem>;
}

/**
 * Plans the first turns of a trace as questions of a data set. The users of the trace take the users of the data set in turn, as
 * often as needed; in a trace without users, conversations do. A turn with the memories of an earlier turn of its user repeats that
 * question, and any other asks the next one; after the last, the first again.
 * @returns in the order of arrival, `at` in seconds
 * @throws BenchError `bad-data` if all turns arrive at once, so that there is no rate to replay
 */
export function planReplay(
  { turns, idsOf, name }: Trace,
  users: readonly DatasetUser[],
  limit: number,
): { readonly plan: readonly PlannedTurn[]; readonly users: number } {
  const withQuestions = users.filter(({ items }) => items.length > 0);
  const first = turns.slice(0, limit);
  if (first.length > 0 && first.at(-1)!.atMs === 0) {
    const message = `trace ${name}: its first ${first.length} turns arrive at the same time`;
    throw new BenchError('bad-data', message, 'raise --limit, or give turns different times');
  }
  const askers = new Map<string, Asker>();
  const conversations = new Map<string, number>();
  const plan = first.map((turn): PlannedTurn => {
    const owner = idsOf === 'prefix' ? turn.conversationId : turn.userId;
    const { user, asked } = valueOf(askers, owner, (index): Asker => ({
      user: withQuestions[index % withQuestions.length]!,
      asked: new Map(),
    }));
    const memories = JSON.stringify(turn.segments.map(({ id }) => id));
    return {
      conversation: valueOf(conversations, turn.conversationId, (index) => index),
      user,
      item: valueOf(asked, memories, (index) => user.items[index % user.items.length]!),
      at: turn.atMs / 1000,
    };
  });
  return { plan, users: askers.size };
}

/** The value of a key; a new key gets the value of its index, from 0. */
function valueOf<Value>(values: Map<string, Value>, key: string, create: (index: number) => Value): Value {
  if (!values.has(key)) values.set(key, create(values.size));
  return values.get(key)!;
}

interface LoadOptions {
  /** Turns per second; 1 for a replayed trace, whose plan is in seconds. If infinite, `clients` conversations are held at once. */
  readonly rate: number;
  /** A conversation's next turn follows its last answer, after the planned gap between the two turns, not at its planned time. */
  readonly afterAnswers?: boolean;
  readonly clients: number;
  readonly userId: (user: DatasetUser) => string;
  readonly signal: AbortSignal;
}

/**
 * Sends turns at planned times (open loop), so that waiting counts. A turn waits for earlier ones of its conversation.
 * @returns in the order of the planned arrivals @throws the reason of `signal`
 */
export async function playLoad(
  system: Pick<MemorySystem, 'chat'>,
  plan: readonly PlannedTurn[],
  { rate, afterAnswers = false, clients, userId, signal: given }: LoadOptions,
): Promise<ServedTurn[]> {
  // Every pausing conversation adds a listener.
  const signal = AbortSignal.any([given]);
  setMaxListeners(0, signal);
  const start = performance.now();
  const now = (): number => performance.now() - start;
  const served = new Map<PlannedTurn, ServedTurn>();
  const hold = async (turns: readonly PlannedTurn[]): Promise<void> => {
    let history: readonly HistoryMessage[] = [];
    /** Delay of the conversation behind its plan. */
    let delayMs = 0;
    for (const turn of turns) {
      const plannedMs = rate === Infinity ? now() : (turn.at / rate) * 1000 + delayMs;
      if (plannedMs > now()) await sleep(plannedMs - now(), signal);
      const session = { sessionId: `serving/${turn.conversation}`, history, userId: userId(turn.user), signal };
      const outcome = await serve(system, { ...itemQuestion(turn.item, turn.user), ...session }, now);
      served.set(turn, { turn, plannedMs, outcome });
      if (afterAnswers) delayMs += outcome.doneMs - plannedMs;
      if ('error' in outcome) continue;
      history = [
        ...history,
        { role: 'user', content: turn.item.query },
        { role: 'assistant', content: outcome.response.text },
      ];
    }
  };
  const waiting = Map.groupBy(plan, ({ conversation }) => conversation).values();
  const client = async (): Promise<void> => {
    for (const turns of waiting) await hold(turns);
  };
  if (rate === Infinity) await Promise.all(Array.from({ length: clients }, client));
  else await Promise.all([...waiting].map(hold));
  return plan.map((turn) => served.get(turn)!).sort((a, b) => a.plannedMs - b.plannedMs);
}

async function serve(
  system: Pick<MemorySystem, 'chat'>,
  request: ChatRequest & { readonly signal: AbortSignal },
  now: () => number,
): Promise<ServedTurn['outcome']> {
  let firstTokenMs: number | undefined;
  const onText = (): void => {
    firstTokenMs ??= now();
  };
  try {
    const response = await system.chat({ ...request, onText });
    // An aborted answer is not a turn.
    request.signal.throwIfAborted();
    const doneMs = now();
    return { firstTokenMs: firstTokenMs ?? doneMs, doneMs, response };
  } catch (error) {
    request.signal.throwIfAborted();
    return { doneMs: now(), error };
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearTimeout(timer);
  signal.throwIfAborted();
}

/** True if the mean backlog rises from third to third, by more than `sessions`: latency then depends on the length. */
export function isSaturated(served: readonly ServedTurn[], sessions: number): boolean {
  const third = Math.floor(served.length / 3);
  if (third === 0) return false;
  const backlogs = served.map(
    ({ plannedMs }) =>
      served.filter((other) => other.plannedMs <= plannedMs && other.outcome.doneMs > plannedMs).length,
  );
  const ends = [third, 2 * third, backlogs.length];
  const [first, middle, last] = ends.map((end, part) => mean(backlogs.slice(part * third, end))) as [
    number,
    number,
    number,
  ];
  return first < middle && middle < last && last - first > sessions;
}
