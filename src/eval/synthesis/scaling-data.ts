import { grammars, type Grammar } from '../../config/grammar.ts';
import { SeededRandom } from '../random.ts';
import { growingDataset, GrowingUser } from './growing-user.ts';
import type { DatasetGenerator, ModelRoom } from './dataset-generator.ts';

const MEMORIES = [1, 2, 5, 10, 20, 40];
/** What a memory may take of the prompt, so that all of them fit into a small window too. */
const TOKENS_OF_ONE = 16;
const MEMORY_SHARE = 0.36;
const QUESTIONS = 3;

const prefixes = { en: 's', zh: 'sz' } as const;

/** Users whose memories grow; at each number one question for an old, a middling and a new one. */
function make(grammar: Grammar, seed: number, userCount: number, { windowTokens }: ModelRoom): string {
  const random = new SeededRandom(seed);
  const fitting = MEMORIES.filter((count) => count * TOKENS_OF_ONE <= MEMORY_SHARE * windowTokens);
  const users = Array.from({ length: userCount }, (_, index) => {
    const user = new GrowingUser(random, grammar, `${prefixes[grammar.language]}${String(index + 1).padStart(2, '0')}`);
    for (const count of fitting) {
      while (user.memories.length < count) user.remember();
      // The place rotates over users, so that every place is asked for at every number.
      for (let place = 0; place < Math.min(QUESTIONS, count); place++) {
        const third = (place + index) % QUESTIONS;
        const memory = Math.min(count - 1, Math.floor(((third + random.float()) * count) / QUESTIONS));
        user.ask({ memory, condition: count });
      }
    }
    return user;
  });
  return growingDataset('scaling', grammar, seed, users);
}

/** The data of suite `scaling`, one of each language. */
export const scalingData: readonly DatasetGenerator[] = Object.values(grammars).map((grammar) => ({
  name: `scaling-${grammar.language}`,
  suites: ['scaling'],
  language: grammar.language,
  presetUsers: 8,
  make: (seed, users, room) => make(grammar, seed, users, room),
}));
