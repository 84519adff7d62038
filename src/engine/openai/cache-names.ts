import { createHash, randomBytes } from 'node:crypto';
import type { TokenId } from '../token-id.ts';

/** Letters, each of which is one token, and enough of them that no line is made twice: 48 bits. */
const LETTERS = 'abcdefghijklmnop';
const LINE_LETTERS = 12;

/** What goes with prompts so that only prompts of the same name are found in the server's prefix cache. */
export interface CacheName {
  /** Ids of a line in front of the prompt, behind the token that opens it; empty where something else keeps names apart. */
  readonly line: readonly TokenId[];
  /** Of every request. */
  readonly fields: object;
  /** Of the first request of a name that nobody had. */
  readonly firstFields: object;
}

/**
 * The way in which a server is kept from finding the prompts of others: by a salt (vLLM), by switching its cache off for the
 * first request of a name and keeping to one slot (llama-server), or by a first line that is unique.
 */
export class CacheNames {
  readonly kind: 'salt' | 'switch' | 'line';
  /** By letter, and last the end of the line; empty but for lines. */
  readonly #letters: readonly TokenId[];
  /** Of this process alone: names of earlier runs are other ones. */
  readonly #secret = randomBytes(16).toString('hex');
  #count = 0;

  private constructor(kind: CacheNames['kind'], letters: readonly TokenId[] = []) {
    this.kind = kind;
    this.#letters = letters;
  }

  static bySalt(): CacheNames {
    return new CacheNames('salt');
  }

  static bySwitch(): CacheNames {
    return new CacheNames('switch');
  }

  /** @param tokenize gives the ids of one text */
  static async byLine(tokenize: (text: string) => Promise<readonly TokenId[]>): Promise<CacheNames> {
    const letters: TokenId[] = [];
    for (const letter of [...LETTERS, '\n']) letters.push((await tokenize(letter)).at(-1)!);
    return new CacheNames('line', letters);
  }

  /** Tokens of the line in front of every prompt. */
  get lineTokens(): number {
    return this.kind === 'line' ? LINE_LETTERS + 1 : 0;
  }

  /**
   * The name of a scope; without one, a name that nobody had or will have.
   * @param place of the session among those that are open
   */
  of(scope: string | undefined, place: number): CacheName {
    const named = scope === undefined ? `fresh ${this.#count++}` : `scope ${scope}`;
    const hash = createHash('sha256').update(`${this.#secret} ${named}`).digest();
    const none = { line: [], fields: {}, firstFields: {} };
    switch (this.kind) {
      case 'salt':
        return { ...none, fields: { cache_salt: hash.toString('base64url') } };
      case 'switch':
        return { ...none, fields: { cache_prompt: true, id_slot: place }, firstFields: { cache_prompt: false } };
      case 'line': {
        const letters = Array.from({ length: LINE_LETTERS }, (_, index) => hash[index]! % LETTERS.length);
        return { ...none, line: [...letters, LETTERS.length].map((letter) => this.#letters[letter]!) };
      }
    }
  }
}
