import { createHash, randomBytes } from 'node:crypto';
import type { TokenId, TokenIds } from '../token-id.ts';

/** Words that most vocabularies have as one token; any sixteen of them make the lines. */
const WORDS =
  'the and is my you of to in it that was for on with he she we at his they have what who when where how are did do me';
const ALPHABET = 16;
/** 48 bits: no line is made twice. */
const LINE_WORDS = 12;

/** A name that goes with prompts: only prompts of the same name are found in the server's prefix cache. */
export interface CacheName {
  /** Ids of a line behind the token that opens the prompt; empty where request fields keep names apart. */
  readonly line: TokenIds;
  readonly fields: object;
  /** Fields of the first request under a new name. */
  readonly firstFields: object;
}

/**
 * Keeps a server from finding the prompts of other names: by a salt (vLLM), by switching its cache off for the first request
 * of a name and keeping to one slot (llama-server), or by a unique first line.
 */
export class CacheNames {
  readonly kind: 'salt' | 'switch' | 'line';
  readonly lineTokens: number;
  /** The alphabet of lines, then the end of a line. */
  readonly #words: TokenIds;
  /** Makes the names of each process different. */
  readonly #secret = randomBytes(16).toString('hex');
  #count = 0;

  constructor(kind: CacheNames['kind'], words: TokenIds = []) {
    this.kind = kind;
    this.lineTokens = kind === 'line' ? LINE_WORDS + 1 : 0;
    this.#words = words;
  }

  /** Names by lines. @param tokenize gives the ids of one text */
  static async byLine(tokenize: (text: string) => Promise<TokenIds>): Promise<CacheNames> {
    const ids = async (before: string) =>
      await Promise.all(WORDS.split(' ').map(async (word) => await tokenize(before + word)));
    const whole = (words: readonly TokenIds[]) => words.filter(({ length }) => length === 1);
    const [spaced, bare] = [await ids(' '), await ids('')];
    // Tokenizers never join words, so that a line that is sent as text has as many tokens as one of ids. Some put the space
    // in front of a text's first word themselves.
    const words = [whole(spaced), whole(bare), bare].find(({ length }) => length >= ALPHABET)!;
    return new CacheNames(
      'line',
      [...words.slice(0, ALPHABET), await tokenize('\n')].map((word): TokenId => word.at(-1)!),
    );
  }

  /** The name of a scope; without one, a name that is never used again. @param place of the session among the open ones */
  name(scope?: string, place = 0): CacheName {
    const named = scope === undefined ? `fresh ${this.#count++}` : `scope ${scope}`;
    const hash = createHash('sha256').update(`${this.#secret} ${named}`).digest();
    switch (this.kind) {
      case 'salt':
        return { line: [], fields: { cache_salt: hash.toString('base64url') }, firstFields: {} };
      case 'switch':
        return { line: [], fields: { cache_prompt: true, id_slot: place }, firstFields: { cache_prompt: false } };
      case 'line': {
        const words = Array.from({ length: LINE_WORDS }, (_, index) => hash[index]! % ALPHABET);
        return { line: [...words, ALPHABET].map((word) => this.#words[word]!), fields: {}, firstFields: {} };
      }
    }
  }
}
