import type { DatasetItem, DatasetUser } from '../../../../data/dataset.ts';
import { SeededRandom } from '../../../../base/seeded-random.ts';

/** Turns of a conversation. */
export const CONVERSATION_TURNS = 5;
/** Mean pause between the turns of a conversation, in mean gaps between the turns of all. */
const PAUSE_GAPS = 5;

/** One turn of a load, planned before anything is answered. */
export interface PlannedTurn {
  /** Place of its conversation in the plan, from 0. */
  readonly conversation: number;
  readonly user: DatasetUser;
  readonly item: DatasetItem;
  /** Planned arrival, in mean gaps between turns: at λ turns a second a gap is 1/λ s. */
  readonly at: number;
}

/** Draws a pause of mean 1. */
function exponential(random: SeededRandom): number {
  return -Math.log(1 - random.float());
}

/** The items of a conversation: of each turn but the first it is drawn whether it asks again what was asked before. */
function conversationItems(random: SeededRandom, fresh: readonly DatasetItem[], recurrence: number): DatasetItem[] {
  const asked: DatasetItem[] = [];
  let next = 0;
  for (const _ of fresh) asked.push(next > 0 && random.chance(recurrence) ? random.pick(asked) : fresh[next++]!);
  return asked;
}

/**
 * Conversations of five turns, the last of a user of what is left, that begin as a Poisson process and whose turns follow each other
 * after exponential pauses. One seed gives one plan, whatever arm answers it and at whatever rate it is played.
 * @param recurrence share of the turns behind the first of a conversation that ask one of its questions again, and so
 * need the same set of memories
 * @returns in the order of arrival, the first at 0
 */
export function planLoad(users: readonly DatasetUser[], recurrence: number, seed: number): PlannedTurn[] {
  const random = new SeededRandom(seed);
  const conversations = random.shuffled(
    users.flatMap((user) =>
      Array.from({ length: Math.ceil(user.items.length / CONVERSATION_TURNS) }, (_, place) => ({
        user,
        fresh: user.items.slice(place * CONVERSATION_TURNS, (place + 1) * CONVERSATION_TURNS),
      })),
    ),
  );
  let start = 0;
  const turns = conversations.flatMap(({ user, fresh }, conversation) => {
    if (conversation > 0) start += CONVERSATION_TURNS * exponential(random);
    let at = start;
    return conversationItems(random, fresh, recurrence).map((item, place): PlannedTurn => {
      if (place > 0) at += PAUSE_GAPS * exponential(random);
      return { conversation, user, item, at };
    });
  });
  return turns.sort((a, b) => a.at - b.at);
}
