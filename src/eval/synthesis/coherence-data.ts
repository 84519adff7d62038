import type { HistoryMessage } from '../../systems/prompt/segments.ts';
import { growingData, type GrowthScope } from './growing-data.ts';
import type { GrowingUser } from './growing-user.ts';

const MEMORIES = 12;
const DEPTH = 12;
/** A thing told is asked for so many turns later. */
const DELAY = 2;
const TOLD_EVERY = 3;

/**
 * One conversation a user: most questions are for memories, every third for something that was told in it shortly before.
 * What stands before a question is what that arm itself answered.
 */
function grow(user: GrowingUser, { random }: GrowthScope): void {
  while (user.memories.length < MEMORIES) user.remember();
  const conversation = `${user.userId}-talk`;
  const order = random.shuffled(user.memories.map((_memory, memory) => memory));
  const due = new Map<number, ReturnType<GrowingUser['tell']>['ask']>();
  for (let condition = 1; condition <= DEPTH; condition++) {
    let history: readonly HistoryMessage[] = [];
    if (condition % TOLD_EVERY === 1 && condition + DELAY <= DEPTH) {
      const told = user.tell();
      history = told.messages;
      due.set(condition + DELAY, told.ask);
    }
    const ask = due.get(condition);
    if (ask === undefined) user.ask({ memory: order.pop()!, condition, conversation, history });
    else ask({ condition, conversation, history });
  }
}

/** The data of suite `coherence`, one of each language. */
export const coherenceData = growingData({ suite: 'coherence', letter: 'd', grow });
