import type { GrowingUser } from './growing-user.ts';
import { growingUserGenerators, type GrowthScope } from './growing-user-generators.ts';

const MEMORIES = [1, 2, 5, 10, 20, 40];
/** Estimated tokens of a memory, and the share of the window for memories, so that they fit a small window too. */
const TOKENS_OF_ONE = 16;
const MEMORY_SHARE = 0.36;
const QUESTIONS = 3;

/** Grows the number of memories; at each number, questions ask for an old, a middle and a new one. */
function grow(user: GrowingUser, { random, index, window: { contextTokens } }: GrowthScope): void {
  const fitting = MEMORIES.filter((count) => count * TOKENS_OF_ONE <= MEMORY_SHARE * contextTokens);
  for (const count of fitting) {
    while (user.memories.length < count) user.remember();
    // Rotates over users, so that every number of memories has questions about old, middle and new ones.
    for (let place = 0; place < Math.min(QUESTIONS, count); place++) {
      const third = (place + index) % QUESTIONS;
      const memory = Math.min(count - 1, Math.floor(((third + random.float()) * count) / QUESTIONS));
      user.ask({ memory, condition: count });
    }
  }
}

export const scalingData = growingUserGenerators({ suite: 'scaling', letter: 's', grow });
