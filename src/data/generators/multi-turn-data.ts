import type { GrowingUser } from './growing-user.ts';
import { growingUserGenerators, type GrowthScope } from './growing-user-generators.ts';

const USERS = 40;
const MEMORIES = 12;
const TURNS = 5;

/** One context per user; each turn asks for another of its memories, in random order. */
function grow(user: GrowingUser, { random }: GrowthScope): void {
  while (user.memories.length < MEMORIES) user.remember();
  const order = random.shuffled([...user.memories.keys()]).slice(0, TURNS);
  order.forEach((memory, turn) => user.ask({ memory, condition: turn + 1 }));
}

export const multiTurnData = growingUserGenerators({ suite: 'multi-turn', letter: 'm', presetUsers: USERS, grow });
