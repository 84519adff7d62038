import { grammars } from '../../../src/base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { MemorySearchResult } from '../../../src/retrieval/retriever.ts';
import { type PromptRules, buildPrompt, prefixParts } from '../../../src/systems/prompt/build-prompt.ts';
import { PromptTokenizer } from '../../../src/systems/prompt/prompt-tokenizer.ts';
import { memorySegment } from '../../../src/systems/prompt/memory-lines.ts';
import { querySegments } from '../../../src/systems/prompt/plain-form.ts';

/** Labels are the same at every position, so that a block serves any order; memories may fill the window. */
export const RULES: Omit<PromptRules, 'windowTokens'> = {
  placement: 'rank',
  labels: 'bullet',
  reserveTokens: 16,
  memoryShare: 1,
};

const SHORTEST_MEMORY = 38;
const LONGEST_MEMORY = 62;
/** Draws of a text before giving up on an exact number of tokens. */
const ATTEMPTS = 1000;
const WORDS =
  'river stone house garden letter winter yellow table music window market silver forest paper bridge copper morning ' +
  'harbour pencil island cotton engine mirror orange lemon saddle velvet candle basket hammer meadow';

/** Questions and memories of exact sizes, made of random words. */
export type Subject = Awaited<ReturnType<typeof drawSubject>>;

/** Draws the memories. @param memoryTokens tokens of all memory lines @param queryTokens tokens of a query's line */
export async function drawSubject(engine: Engine, memoryTokens: number, queryTokens: number, seed: number) {
  const random = new SeededRandom(seed);
  const memories: MemorySearchResult[] = [];
  for (const tokens of memoryLengths(memoryTokens, random)) {
    const lineOf = (text: string): string => memorySegment('', text, 1, RULES.labels).text;
    const content = await drawText(engine, tokens, random, lineOf);
    memories.push({ memoryId: `m${memories.length + 1}`, content, score: 0.5, metadata: {} });
  }
  /** Another query for each turn, all of one length. */
  const query = (turn: number): Promise<string> =>
    drawText(engine, queryTokens, new SeededRandom(seed + turn + 1), (text) => querySegments(text)[0].text);
  /** The same memories in another order for each turn. */
  const reordered = (turn: number) => new SeededRandom(seed - turn - 1).shuffled(memories);
  /** The prompt that the systems build, cut where its memories end: `prefix` is the header and the memory lines. */
  const prompt = async (turn: number) => {
    const parts = { query: await query(turn), systemPrompt: grammars.en.systemPrompts[0]!, memories, history: [] };
    const rules = { ...RULES, windowTokens: engine.info.contextTokens };
    const built = await buildPrompt(parts, rules, new PromptTokenizer(engine));
    if (built.memories.length !== memories.length) throw new RangeError('the window is too short for the memories');
    const { header, lines, suffix } = prefixParts(built);
    return {
      prefix: built.tokenIds.slice(0, built.prefixTokens),
      suffix,
      headerTokens: header.length,
      lines: lines.map(({ tokenIds }) => tokenIds),
    };
  };
  return { memories, query, reordered, prompt };
}

/** Draws a text whose line has exactly so many tokens. */
async function drawText(
  engine: Engine,
  tokens: number,
  random: SeededRandom,
  lineOf: (text: string) => string,
): Promise<string> {
  const words = WORDS.split(' ');
  const count = async (text: string): Promise<number> => {
    const [ids] = await engine.tokenize([{ text: lineOf(text), as: 'text' }]);
    return ids!.length;
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let text = random.pick(words);
    let length = await count(text);
    while (length < tokens) {
      text += ` ${random.pick(words)}`;
      length = await count(text);
    }
    if (length === tokens) return text;
  }
  throw new RangeError(`this tokeniser makes no text of ${tokens} tokens`);
}

/** Lengths that add up, and that vary: in another order each block lands at another position. */
function memoryLengths(tokens: number, random: SeededRandom): number[] {
  const lengths: number[] = [];
  let left = tokens;
  while (left >= 2 * LONGEST_MEMORY) {
    lengths.push(random.int(SHORTEST_MEMORY, LONGEST_MEMORY));
    left -= lengths.at(-1)!;
  }
  const half = Math.floor(left / 2);
  return left > LONGEST_MEMORY ? [...lengths, half, left - half] : [...lengths, left];
}
