import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { optional } from '../http/server-errors.ts';
import { ANCHOR, llamaTokenRoutes, type TokenRoutes } from '../http/server-tokenizer.ts';
import type { TokenIds } from '../token-id.ts';

/** Response of `/tokenize` in vLLM and SGLang. */
const tokenizedShape = z.object({
  /** Tells these servers from llama-server, which has no count and ignores the field `prompt`. */
  count: z.int().nonnegative(),
  tokens: z.array(z.int()),
  max_model_len: z.int().nonnegative().nullish(),
});

/** Response of `/detokenize` in vLLM (`prompt`) and SGLang (`text`). */
const promptShape = z.union([
  z.object({ prompt: z.string() }).transform(({ prompt }) => prompt),
  z.object({ text: z.string() }).transform(({ text }) => text),
]);

/** Texts that look like control tokens: `<s>`, `<|im_end|>`, `[INST]`. */
const MARKERS = /<[|｜]?[^<>\s]{1,40}?[|｜]?>|\[\/?[A-Z][A-Z_]{1,30}\]/gu;

/** Finds the routes to tokenise: those of vLLM and SGLang, or of llama-server; undefined if the server has neither. */
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
 * The routes of vLLM and SGLang, which always parse control tokens. To encode without parsing, splits the text inside anything that
 * looks like a control token, and encodes the parts separately.
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
      // Encodes later parts after an anchor, because some tokenisers add a space at the start of a text.
      const anchor = others.length === 0 ? [] : await encodeWhole(ANCHOR, false, options);
      for (const part of others) {
        ids.push(...(await encodeWhole(ANCHOR + part, false, options)).slice(anchor.length));
      }
      return ids;
    },
    decode: (tokens, options) => connection.post('/detokenize', { model, tokens }, promptShape, options),
  };
}

/** Splits a text after the first character of each marker, so that no part contains a whole marker. */
function splitMarkers(text: string): string[] {
  const cuts = [...text.matchAll(MARKERS)].map(({ index }) => index + 1);
  return [0, ...cuts].map((start, place) => text.slice(start, cuts[place])).filter((part) => part !== '');
}
