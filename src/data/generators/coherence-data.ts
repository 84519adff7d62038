import type { HistoryMessage } from '../record-schemas.ts';
import type { GrowingUser } from './growing-user.ts';
import { growingUserGenerators, type GrowthScope } from './growing-user-generators.ts';

const MEMORIES = 12;
const DEPTH = 12;
/** Turns between a statement in the conversation and the question for it. */
const DELAY = 2;
const TOLD_EVERY = 3;

/** One conversation per user; every third question asks for something said shortly before. */
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

export const coherenceData = growingUserGenerators({ suite: 'coherence', letter: 'd', grow });
