import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { optional } from '../http/server-errors.ts';
import { ANCHOR, llamaTokenRoutes, type TokenRoutes } from '../http/server-tokenizer.ts';
import type { TokenIds } from '../token-id.ts';

/** `/tokenize` of vLLM and SGLang. */
const tokenizedShape = z.object({
  /** llama-server has none, and answers a prompt under this name with an empty list. */
  count: z.int().nonnegative(),
  tokens: z.array(z.int()),
  max_model_len: z.int().nonnegative().nullish(),
});

/** `/detokenize` of vLLM and SGLang. */
const promptShape = z.union([
  z.object({ prompt: z.string() }).transform(({ prompt }) => prompt),
  z.object({ text: z.string() }).transform(({ text }) => text),
]);

/** Texts in the form of control tokens: `<s>`, `<|im_end|>`, `[INST]`. */
const MARKERS = /<[|｜]?[^<>\s]{1,40}?[|｜]?>|\[\/?[A-Z][A-Z_]{1,30}\]/gu;

/** The token routes of vLLM and SGLang, or of llama-server; undefined where the server has neither. */
export async function findTokenRoutes(
  connection: ServerConnection,
  model: string,
  options: CallOptions,
): Promise<{ readonly routes: TokenRoutes; readonly windowTokens: number | null } | undefined> {
  const body = { model, prompt: 'a', add_special_tokens: false };
  const found = await optional(connection.post('/tokenize', body, tokenizedShape, options));
  if (found !== undefined) {
    return { routes: promptTokenRoutes(connection, model), windowTokens: found.max_model_len ?? null };
  }
  const routes = llamaTokenRoutes(connection);
  const ids = await optional(routes.encode('a', { parse: false }, options));
  return ids === undefined || ids.length === 0 ? undefined : { routes, windowTokens: null };
}

/**
 * The routes of vLLM and SGLang. Their tokenisers read control tokens in every text: one that may hold none is split inside
 * everything that looks like one, and its parts are tokenised alone.
 */
function promptTokenRoutes(connection: ServerConnection, model: string): TokenRoutes {
  const encodeWhole = async (prompt: string, add: boolean, options: CallOptions): Promise<TokenIds> => {
    const body = { model, prompt, add_special_tokens: add };
    return (await connection.post('/tokenize', body, tokenizedShape, options)).tokens;
  };
  return {
    encode: async (text, { parse, add = false }, options) => {
      const [first = '', ...others] = parse ? [text] : splitMarkers(text);
      const ids = [...(await encodeWhole(first, add, options))];
      // Some tokenisers add a space in front of a text.
      const anchor = others.length === 0 ? [] : await encodeWhole(ANCHOR, false, options);
      for (const part of others) {
        ids.push(...(await encodeWhole(ANCHOR + part, false, options)).slice(anchor.length));
      }
      return ids;
    },
    decode: (tokens, options) => connection.post('/detokenize', { model, tokens }, promptShape, options),
  };
}

/** Splits a text behind the first character of each marker, so that no part holds a whole one. */
function splitMarkers(text: string): string[] {
  const cuts = [...text.matchAll(MARKERS)].map(({ index }) => index + 1);
  return [0, ...cuts].map((start, place) => text.slice(start, cuts[place])).filter((part) => part !== '');
}
