import { BenchError } from '../../../base/bench-error.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import type { Trace, TraceTurn } from '../../../kv/traffic/trace.ts';
import type { PlannedTurn } from './load-generator.ts';

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
    const asker = valueOf(askers, owner, (index) => ({
      user: withQuestions[index % withQuestions.length]!,
      asked: new Map(),
    }));
    return {
      conversation: valueOf(conversations, turn.conversationId, (index) => index),
      user: asker.user,
      item: question(asker, turn),
      at: turn.atMs / 1000,
    };
  });
  return { plan, users: askers.size };
}

function question({ user, asked }: Asker, { segments }: TraceTurn): DatasetItem {
  const memories = JSON.stringify(segments.map(({ id }) => id));
  return valueOf(asked, memories, (index) => user.items[index % user.items.length]!);
}

/** The value of a key; a new key gets the value of its index, from 0. */
function valueOf<Value>(values: Map<string, Value>, key: string, create: (index: number) => Value): Value {
  if (!values.has(key)) values.set(key, create(values.size));
  return values.get(key)!;
}
