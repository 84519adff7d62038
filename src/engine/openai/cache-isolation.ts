import { createHash, randomBytes } from 'node:crypto';
import type { TokenIds } from '../token-id.ts';

/** Words that are one token in most vocabularies. Lines are made of the first sixteen that are. */
const WORDS =
  'the and is my you of to in it that was for on with he she we at his they have what who when where how are did do me';
const ALPHABET = 16;
/** 12 words of 16: 48 bits, so no line is used twice. */
const LINE_WORDS = 12;

export type CacheNames = ReturnType<typeof cacheNames>;

/** A namespace in the server's prefix cache: only prompts sent with the same name share prefixes. */
export type CacheName = Readonly<ReturnType<CacheNames['name']>>;

/**
 * Keeps a server from reusing prompts across names: by a cache salt (vLLM), by turning the cache off in the first request of a name
 * and always using the same slot (llama-server), or by a unique first line.
 * @param words token ids of sixteen words, then of a newline, to make lines of
 */
export function cacheNames(kind: 'salt' | 'switch' | 'line', words: TokenIds = []) {
  /** Makes names differ between processes. */
  const secret = randomBytes(16).toString('hex');
  let count = 0;
  return {
    kind,
    lineTokens: kind === 'line' ? LINE_WORDS + 1 : 0,
    /**
     * The name for a scope; without a scope, a new unique name.
     * @param slot its slot in llama-server
     * @returns the ids of a unique line to insert after BOS, empty if request fields isolate names; fields of every request; and
     * those added to the first request under a new name
     */
    name(scope?: string, slot = 0) {
      const named = scope === undefined ? `fresh ${count++}` : `scope ${scope}`;
      const hash = createHash('sha256').update(`${secret} ${named}`).digest();
      if (kind === 'salt') return { line: [], fields: { cache_salt: hash.toString('base64url') }, firstFields: {} };
      if (kind === 'switch') {
        return { line: [], fields: { cache_prompt: true, id_slot: slot }, firstFields: { cache_prompt: false } };
      }
      const chosen = Array.from({ length: LINE_WORDS }, (_, index) => hash[index]! % ALPHABET);
      return { line: [...chosen, ALPHABET].map((word) => words[word]!), fields: {}, firstFields: {} };
    },
  };
}

/** Isolates names by unique first lines. @param tokenize returns the ids of one text */
export async function cacheNamesByLine(tokenize: (text: string) => Promise<TokenIds>): Promise<CacheNames> {
  const ids = async (before: string) =>
    await Promise.all(WORDS.split(' ').map(async (word) => await tokenize(before + word)));
  const whole = (words: readonly TokenIds[]) => words.filter(({ length }) => length === 1);
  const [spaced, bare] = [await ids(' '), await ids('')];
  // Words never merge, so a line has the same number of tokens whether sent as text or as ids. Words without a space are tried
  // too, because some tokenizers add it to the first word themselves.
  const words = [whole(spaced), whole(bare), bare].find(({ length }) => length >= ALPHABET)!;
  const lines = [...words.slice(0, ALPHABET), await tokenize('\n')];
  return cacheNames(
    'line',
    lines.map((word) => word.at(-1)!),
  );
}
