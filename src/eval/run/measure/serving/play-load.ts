import { setMaxListeners } from 'node:events';
import type { DatasetUser } from '../../../../data/dataset.ts';
import { profileOf } from '../../../../data/user-language.ts';
import type { HistoryMessage } from '../../../../store/records/prompt-info.ts';
import type { ChatRequest, ChatResponse, MemorySystem } from '../../../../systems/contracts.ts';
import type { PlannedTurn } from './plan-load.ts';

/** A turn of a load as it was served; times in milliseconds since the load began. */
export interface ServedTurn {
  readonly turn: PlannedTurn;
  readonly plannedMs: number;
  readonly outcome: Answered | Failed;
}

/** A turn that was answered. */
export interface Answered {
  readonly firstTokenMs: number;
  readonly doneMs: number;
  readonly response: ChatResponse;
}

interface Failed {
  readonly doneMs: number;
  readonly error: unknown;
}

/** The turns that were answered. */
export function answeredOf(served: readonly ServedTurn[]): (ServedTurn & { readonly outcome: Answered })[] {
  return served.filter((turn): turn is ServedTurn & { readonly outcome: Answered } => 'response' in turn.outcome);
}

/** How a load is played. */
export interface Playing {
  /** Turns a second. Infinite: each conversation asks as soon as it was answered, as many at once as `clients` says. */
  readonly rate: number;
  /** Conversations that are held at once, at an infinite rate. */
  readonly clients: number;
  /** The id under which the system knows the memories of a user. */
  readonly userIdOf: (user: DatasetUser) => string;
  readonly signal: AbortSignal;
}

/**
 * Asks a system what was planned, when it was planned: a turn that comes while others are served waits, and its clock runs. The later
 * turn of a conversation is asked once the earlier one was answered, its clock too begins at the planned time.
 * @returns in the order of the plan
 * @throws the reason of an aborted signal
 */
export async function playLoad(
  system: Pick<MemorySystem, 'chat'>,
  plan: readonly PlannedTurn[],
  { rate, clients, userIdOf, signal: given }: Playing,
): Promise<ServedTurn[]> {
  // Every conversation that pauses listens.
  const signal = AbortSignal.any([given]);
  setMaxListeners(0, signal);
  const start = performance.now();
  const now = (): number => performance.now() - start;
  const served = new Map<PlannedTurn, ServedTurn>();
  const hold = async (turns: readonly PlannedTurn[]): Promise<void> => {
    let history: readonly HistoryMessage[] = [];
    for (const turn of turns) {
      const plannedMs = rate === Infinity ? now() : (turn.at / rate) * 1000;
      if (plannedMs > now()) await sleep(plannedMs - now(), signal);
      const outcome = await ask(system, turn, { history, userId: userIdOf(turn.user), now, signal });
      served.set(turn, { turn, plannedMs, outcome });
      if ('response' in outcome) history = [...history, ...exchange(turn, outcome.response)];
    }
  };
  const conversations = [...Map.groupBy(plan, ({ conversation }) => conversation).values()];
  if (rate === Infinity) {
    const waiting = [...conversations];
    const client = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await hold(next);
    };
    await Promise.all(Array.from({ length: clients }, client));
  } else {
    await Promise.all(conversations.map(hold));
  }
  return plan.map((turn) => served.get(turn)!);
}

async function ask(
  system: Pick<MemorySystem, 'chat'>,
  { item, user, conversation }: PlannedTurn,
  {
    now,
    ...given
  }: Pick<ChatRequest, 'history' | 'userId'> & { readonly now: () => number; readonly signal: AbortSignal },
): Promise<ServedTurn['outcome']> {
  let firstTokenMs: number | undefined;
  try {
    const response = await system.chat({
      query: item.query,
      language: profileOf(item.language, user.languageProfile).language,
      ...(item.systemPrompt === undefined ? {} : { systemPrompt: item.systemPrompt }),
      ...(item.answerPrefix === undefined ? {} : { answerPrefix: item.answerPrefix }),
      ...{ sessionId: `serving/${conversation}`, ...given },
      onText: () => {
        firstTokenMs ??= now();
      },
    });
    // An answer that was cut short is no turn.
    given.signal.throwIfAborted();
    const doneMs = now();
    return { firstTokenMs: firstTokenMs ?? doneMs, doneMs, response };
  } catch (error) {
    given.signal.throwIfAborted();
    return { doneMs: now(), error };
  }
}

function exchange({ item }: PlannedTurn, { text }: ChatResponse): readonly HistoryMessage[] {
  return [
    { role: 'user', content: item.query },
    { role: 'assistant', content: text },
  ];
}

/** @throws the reason of the signal, at once */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(wake, ms);
    function wake(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    }
    signal.addEventListener('abort', wake);
  });
  signal.throwIfAborted();
}
