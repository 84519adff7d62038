import { memorySegment } from '../../systems/prompt/segments.ts';
import { growingData, type GrowthScope } from './growing-data.ts';
import type { GrowingUser } from './growing-user.ts';

/** The paper's lengths of memory, in tokens of its window; another window has the same shares. */
const PAPER_TOKENS = [500, 1000, 1500, 2000, 2500, 3000, 3500];
const PAPER_WINDOW = 4096;
const QUESTIONS = 3;

/** Users whose memories grow from an eighth of the window to seven eighths, asked for old, middling and new ones. */
function grow(user: GrowingUser, { random, room: { windowTokens, countTokens } }: GrowthScope): void {
  const tokens = (): number =>
    user.memories.reduce((sum, { memoryId, content }, index) => {
      return sum + countTokens(memorySegment(memoryId, content, index + 1, 'index').text);
    }, 0);
  for (const paperTokens of PAPER_TOKENS) {
    const share = paperTokens / PAPER_WINDOW;
    while (tokens() < share * windowTokens) user.remember();
    for (let third = 0; third < QUESTIONS; third++) {
      const [from, to] = [third, third + 1].map((part) => Math.floor((part * user.memories.length) / QUESTIONS));
      user.ask({ memory: random.int(from!, Math.max(from!, to! - 1)), condition: share });
    }
  }
}

/** The data of suite `context`, one of each language. */
export const contextData = growingData({ suite: 'context', letter: 'c', grow });
