import { promptTemplates } from '../../config/prompt-templates.ts';
import type { GrowingUser } from './growing-user.ts';
import { growingUserGenerators, type GrowthScope } from './growing-user-generators.ts';
import { fillTemplate } from './fill-template.ts';

/** Total lengths of the paper's memories in its window, in tokens; another window gets the same shares. */
const PAPER_TOKENS = [500, 1000, 1500, 2000, 2500, 3000, 3500];
const PAPER_WINDOW = 4096;
const QUESTIONS = 3;

/** Grows memories from an eighth of the context window to seven eighths; questions ask for old, middle and new ones. */
async function grow(user: GrowingUser, { random, window: { contextTokens, countTokens } }: GrowthScope): Promise<void> {
  let tokens = 0;
  const remember = async (): Promise<void> => {
    const { content } = user.memories[user.remember()]!;
    const line = fillTemplate(promptTemplates.segments.memory.index, { i: String(user.memories.length), content });
    const [count] = await countTokens([line]);
    tokens += count!;
  };
  for (const paperTokens of PAPER_TOKENS) {
    const share = paperTokens / PAPER_WINDOW;
    while (tokens < share * contextTokens) await remember();
    for (let third = 0; third < QUESTIONS; third++) {
      const [from, to] = [third, third + 1].map((part) => Math.floor((part * user.memories.length) / QUESTIONS));
      user.ask({ memory: random.int(from!, Math.max(from!, to! - 1)), condition: share });
    }
  }
}

export const contextData = growingUserGenerators({ suite: 'context', letter: 'c', grow });
