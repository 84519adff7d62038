import { grammars, type Grammar } from '../../config/grammar.ts';
import { memorySegment } from '../../systems/prompt/segments.ts';
import { SeededRandom } from '../random.ts';
import { growingDataset, GrowingUser } from './growing-user.ts';
import type { DatasetGenerator, ModelRoom } from './dataset-generator.ts';

/** The paper's lengths of memory, in tokens of its window; another window has the same shares. */
const PAPER_TOKENS = [500, 1000, 1500, 2000, 2500, 3000, 3500];
const PAPER_WINDOW = 4096;
const QUESTIONS = 3;

const prefixes = { en: 'c', zh: 'cz' } as const;

/** Users whose memories grow from an eighth of the window to seven eighths, asked for old, middling and new ones. */
function make(grammar: Grammar, seed: number, userCount: number, { windowTokens, countTokens }: ModelRoom): string {
  const random = new SeededRandom(seed);
  const tokensOf = ({ memories }: GrowingUser): number =>
    memories.reduce((sum, { memoryId, content }, index) => {
      return sum + countTokens(memorySegment(memoryId, content, index + 1, 'index').text);
    }, 0);
  const users = Array.from({ length: userCount }, (_, index) => {
    const user = new GrowingUser(random, grammar, `${prefixes[grammar.language]}${String(index + 1).padStart(2, '0')}`);
    for (const tokens of PAPER_TOKENS) {
      const share = tokens / PAPER_WINDOW;
      while (tokensOf(user) < share * windowTokens) user.remember();
      for (let third = 0; third < QUESTIONS; third++) {
        const [from, to] = [third, third + 1].map((part) => Math.floor((part * user.memories.length) / QUESTIONS));
        user.ask({ memory: random.int(from!, Math.max(from!, to! - 1)), condition: share });
      }
    }
    return user;
  });
  return growingDataset('context', grammar, seed, users);
}

/** The data of suite `context`, one of each language. */
export const contextData: readonly DatasetGenerator[] = Object.values(grammars).map((grammar) => ({
  name: `context-${grammar.language}`,
  suites: ['context'],
  language: grammar.language,
  presetUsers: 8,
  make: (seed, users, room) => make(grammar, seed, users, room),
}));
