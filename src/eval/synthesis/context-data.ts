import { memorySegment } from '../../systems/prompt/segments.ts';
import { SeededRandom } from '../random.ts';
import { growingDataset, GrowingUser } from './growing-user.ts';
import type { DatasetGenerator, ModelRoom } from './dataset-generator.ts';

/** The paper's lengths of memory, in tokens of its window; another window has the same shares. */
const PAPER_TOKENS = [500, 1000, 1500, 2000, 2500, 3000, 3500];
const PAPER_WINDOW = 4096;
const QUESTIONS = 3;

/** Users whose memories grow from an eighth of the window to seven eighths, asked for old, middling and new ones. */
function make(seed: number, userCount: number, { windowTokens, countTokens }: ModelRoom): string {
  const random = new SeededRandom(seed);
  const tokensOf = ({ memories }: GrowingUser): number =>
    memories.reduce((sum, { memoryId, content }, index) => {
      return sum + countTokens(memorySegment(memoryId, content, index + 1, 'index').text);
    }, 0);
  const users = Array.from({ length: userCount }, (_, index) => {
    const user = new GrowingUser(random, `c${String(index + 1).padStart(2, '0')}`);
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
  return growingDataset('context', seed, users);
}

/** The data of suite `context`. */
export const contextData: DatasetGenerator = {
  name: 'context',
  suites: ['context'],
  language: 'en',
  presetUsers: 16,
  make,
};
