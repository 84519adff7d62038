import { grammars } from '../../src/config/grammar.ts';
import { SeededRandom } from '../../src/eval/random.ts';
import type { LanguageModel } from '../../src/llm/language-model.ts';
import type { MemorySearchResult } from '../../src/memory/memory-search-result.ts';
import { buildPrompt } from '../../src/systems/prompt/build-prompt.ts';
import { PromptTokenizer } from '../../src/systems/prompt/prompt-tokenizer.ts';
import { memorySegment, querySegments } from '../../src/systems/prompt/segments.ts';
import { RULES } from '../open-parts.ts';

const SHORTEST_MEMORY = 38;
const LONGEST_MEMORY = 62;
/** Draws of a text until one has exactly the tokens that were asked for. */
const ATTEMPTS = 1000;
const WORDS =
  'river stone house garden letter winter yellow table music window market silver forest paper bridge copper morning ' +
  'harbour pencil island cotton engine mirror orange lemon saddle velvet candle basket hammer meadow';

/** A prompt cut where its memories end. */
export interface CutPrompt {
  /** Header and memory lines. */
  readonly prefix: readonly number[];
  /** The query and what stands around it. */
  readonly suffix: readonly number[];
}

/** What is asked, and with which memories: texts of exact sizes, of words that mean nothing. */
export class Subject {
  readonly memories: readonly MemorySearchResult[];
  readonly #model: LanguageModel;
  readonly #queryTokens: number;
  readonly #seed: number;

  /** @param memoryTokens tokens of all memory lines @param queryTokens tokens of a query's line */
  constructor(model: LanguageModel, memoryTokens: number, queryTokens: number, seed: number) {
    this.#model = model;
    this.#queryTokens = queryTokens;
    this.#seed = seed;
    const random = new SeededRandom(seed);
    this.memories = memoryLengths(memoryTokens, random).map((tokens, index) => ({
      memoryId: `m${index + 1}`,
      content: this.#text(tokens, random, (text) => memorySegment('', text, 1, RULES.labels).text),
      score: 0.5,
      metadata: {},
    }));
  }

  /** A query of its own for each turn, all of one length. */
  query(turn: number): string {
    return this.#text(
      this.#queryTokens,
      new SeededRandom(this.#seed + turn + 1),
      (text) => querySegments(text)[0].text,
    );
  }

  /** The same memories in another order for each turn. */
  reordered(turn: number): MemorySearchResult[] {
    return new SeededRandom(this.#seed - turn - 1).shuffled(this.memories);
  }

  /** The very prompt that the systems make of it. */
  prompt(turn: number): CutPrompt {
    const { info } = this.#model;
    const { tokenIds, prefixTokens, kept } = buildPrompt(
      { query: this.query(turn), systemPrompt: grammars.en.systemPrompts[0]!, memories: this.memories, history: [] },
      { ...RULES, windowTokens: info.contextTokens },
      new PromptTokenizer(this.#model, info.bosToken),
    );
    if (kept.length !== this.memories.length) throw new RangeError('the window is too short for the memories');
    return { prefix: tokenIds.slice(0, prefixTokens), suffix: tokenIds.slice(prefixTokens) };
  }

  #text(tokens: number, random: SeededRandom, lineOf: (text: string) => string): string {
    const words = WORDS.split(' ');
    const count = (text: string): number => this.#model.tokenizeText(lineOf(text)).length;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      let text = random.pick(words);
      while (count(text) < tokens) text += ` ${random.pick(words)}`;
      if (count(text) === tokens) return text;
    }
    throw new RangeError(`this tokeniser makes no text of ${tokens} tokens`);
  }
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
