import { grammars, type Grammar } from '../../config/grammar.ts';
import type { HistoryMessage } from '../../systems/prompt/segments.ts';
import { SeededRandom } from '../random.ts';
import { growingDataset, GrowingUser } from './growing-user.ts';
import type { DatasetGenerator } from './dataset-generator.ts';

const MEMORIES = 12;
const DEPTH = 12;
/** A thing told is asked for so many turns later. */
const DELAY = 2;
const TOLD_EVERY = 3;

const prefixes = { en: 'd', zh: 'dz' } as const;

/**
 * One conversation a user: most questions are for memories, every third for something that was told in it shortly before.
 * What stands before a question is what that arm itself answered.
 */
function make(grammar: Grammar, seed: number, userCount: number): string {
  const random = new SeededRandom(seed);
  const users = Array.from({ length: userCount }, (_, index) => {
    const user = new GrowingUser(random, grammar, `${prefixes[grammar.language]}${String(index + 1).padStart(2, '0')}`);
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
    return user;
  });
  return growingDataset('coherence', grammar, seed, users);
}

/** The data of suite `coherence`, one of each language. */
export const coherenceData: readonly DatasetGenerator[] = Object.values(grammars).map((grammar) => ({
  name: `coherence-${grammar.language}`,
  suites: ['coherence'],
  language: grammar.language,
  presetUsers: 8,
  make: (seed, users) => make(grammar, seed, users),
}));
