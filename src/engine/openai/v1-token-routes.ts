import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { PROP } from '../http/server-tokenizer.ts';
import { llamaTokenRoutes, type TokenRoutes } from '../http/token-routes.ts';
import type { TokenId } from '../token-id.ts';
import { optional } from './optional.ts';
import { countedTokensShape, promptShape } from './v1-shapes.ts';

/** Texts in the form of control tokens: `<s>`, `<|im_end|>`, `[INST]`. */
const MARKERS = /<[|｜]?[^<>\s]{1,40}?[|｜]?>|\[\/?[A-Z][A-Z_]{1,30}\]/gu;

/** A server's tokeniser, and how it was recognised. */
export interface FoundRoutes {
  readonly routes: TokenRoutes;
  /** Longest sequence, where the route says so. */
  readonly windowTokens: number | null;
}

/** The routes by which a server tokenises: vLLM's and SGLang's, or llama-server's; undefined where it has neither. */
export async function tokenRoutesOf(
  connection: ServerConnection,
  model: string,
  options: CallOptions,
): Promise<FoundRoutes | undefined> {
  const body = { model, prompt: 'a', add_special_tokens: false };
  const counted = await optional(connection.post('/tokenize', body, countedTokensShape, options));
  if (counted !== undefined) {
    return { routes: promptTokenRoutes(connection, model), windowTokens: counted.max_model_len ?? null };
  }
  const routes = llamaTokenRoutes(connection);
  const ids = await optional(routes.encode('a', { parse: false }, options));
  return ids === undefined || ids.length === 0 ? undefined : { routes, windowTokens: null };
}

/**
 * The routes of vLLM and SGLang. Their tokenisers read control tokens in every text: one that may hold none is taken apart
 * within whatever is written like one, and its parts are tokenised alone.
 */
function promptTokenRoutes(connection: ServerConnection, model: string): TokenRoutes {
  const whole = async (prompt: string, add: boolean, options: CallOptions): Promise<readonly TokenId[]> => {
    const body = { model, prompt, add_special_tokens: add };
    return (await connection.post('/tokenize', body, countedTokensShape, options)).tokens;
  };
  return {
    encode: async (text, { parse, add = false }, options) => {
      const [first = '', ...others] = parse ? [text] : partsOf(text);
      const ids = [...(await whole(first, add, options))];
      if (others.length === 0) return ids;
      const prop = await whole(PROP, false, options);
      // Some tokenisers add a space in front of a text.
      for (const part of others) ids.push(...(await whole(PROP + part, false, options)).slice(prop.length));
      return ids;
    },
    decode: (tokens, options) => connection.post('/detokenize', { model, tokens }, promptShape, options),
  };
}

/** Cut behind the first character of each marker, which no part then holds whole. */
function partsOf(text: string): string[] {
  const cuts = [...text.matchAll(MARKERS)].map(({ index }) => index + 1);
  return [0, ...cuts].map((start, place) => text.slice(start, cuts[place])).filter((part) => part !== '');
}
