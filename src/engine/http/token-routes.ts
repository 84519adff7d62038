import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import type { TokenId } from '../token-id.ts';
import type { ServerConnection } from './server-connection.ts';

/** The way in which a text is turned into ids. */
export interface Encoding {
  /** Control tokens may come of it. */
  readonly parse: boolean;
  /** With the token in front of every text, where the model asks for one. Default false. */
  readonly add?: boolean;
}

/** The routes by which a server turns text into ids, and ids into text. */
export interface TokenRoutes {
  encode(text: string, encoding: Encoding, options: CallOptions): Promise<readonly TokenId[]>;
  decode(ids: readonly TokenId[], options: CallOptions): Promise<string>;
}

const tokensShape = z.object({ tokens: z.array(z.int().nonnegative()) });

const contentShape = z.object({ content: z.string() });

/** The routes of llama-server. */
export function llamaTokenRoutes(connection: ServerConnection): TokenRoutes {
  return {
    encode: async (content, { parse, add = false }, options) => {
      const body = { content, add_special: add, parse_special: parse };
      return (await connection.post('/tokenize', body, tokensShape, options)).tokens;
    },
    decode: async (tokens, options) =>
      (await connection.post('/detokenize', { tokens }, contentShape, options)).content,
  };
}
