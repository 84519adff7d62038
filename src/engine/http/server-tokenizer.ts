import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import type { EngineInfo } from '../engine-info.ts';
import { specialTokenError, type TokenId, type TokenIds } from '../token-id.ts';
import type { TokenizeRequest } from '../engine.ts';
import type { ServerConnection } from './server-connection.ts';

/** A server's routes to turn text into ids and back. */
export interface TokenRoutes {
  /**
   * @param how `parse`: names of control tokens in the text become control tokens; `add`: adds BOS if the model has one, default
   * false
   */
  encode(
    text: string,
    how: { readonly parse: boolean; readonly add?: boolean },
    options: CallOptions,
  ): Promise<TokenIds>;
  decode(ids: TokenIds, options: CallOptions): Promise<string>;
}

const tokensShape = z.object({ tokens: z.array(z.int().nonnegative()) });
const contentShape = z.object({ content: z.string() });

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

/** Names of tokens at which llama.cpp ends generation, in the vocabularies of known models. */
const END_TEXTS = [
  ...['</s>', '<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|endoftext|>', '<|end|>', '<end_of_turn>'],
  ...['<EOT>', '_<EOT>', '<|end_of_turn|>', '<|endofturn|>', '[EOT]', '<turn|>'],
];
/** A text that never merges with the text after it. */
export const ANCHOR = '\n';
/** Concurrent requests; servers have few threads. */
const CONCURRENT_REQUESTS = 4;

const LETTER = 'a';

/** Facts about a model's tokens known from other sources than its tokenizer. */
export interface KnownTokens {
  /** Texts of BOS and EOS; empty or missing if unknown. */
  readonly bos?: string | undefined;
  readonly eos?: string | undefined;
  /** Control tokens listed in the model's file, if that is given. */
  readonly control?: TokenIds;
}

/** A server's tokeniser. It detects control tokens by encoding a text with and without parsing them. */
export async function openServerTokenizer(
  routes: TokenRoutes,
  { bos, eos = '', control: listed = [] }: KnownTokens,
  options: CallOptions,
) {
  const ids = (text: string, parse = false, add = false): Promise<TokenIds> =>
    routes.encode(text, { parse, add }, options);
  const stopTokens: { id: TokenId; text: string }[] = [];
  for (const text of new Set([eos, ...END_TEXTS])) {
    const id = await findControlToken(routes, text, options);
    if (id !== undefined) stopTokens.push({ id, text });
  }
  const endTokens = stopTokens.map(({ id }) => id);
  const [plain, added] = [await ids(LETTER), await ids(LETTER, true, true)];
  const bosToken = added.length > plain.length && added[0] !== plain[0] ? added[0]! : null;
  const bosText = bos ?? (bosToken === null ? '' : await routes.decode([bosToken], options));
  const found = [...endTokens, bosToken ?? (await findControlToken(routes, bosText, options))];
  const control = new Set([...listed, ...found.filter((id) => id !== undefined)]);
  const anchor = await ids(ANCHOR);
  const addsSpace = (await ids(ANCHOR + LETTER)).slice(anchor.length).join() !== plain.join();

  const encode = async ({ text, first = false }: TokenizeRequest, parse: boolean, call: CallOptions) => {
    if (text === '') return [];
    if (!addsSpace || first) return routes.encode(text, { parse }, call);
    return (await routes.encode(ANCHOR + text, { parse }, call)).slice(anchor.length);
  };
  /**
   * Learns the control tokens in a template: ids that are missing if the same text is encoded without parsing, and whose own text
   * becomes a control token. The second test is needed because without parsing, an ordinary token may also be missing: it can merge
   * with the first character of a control token's name.
   */
  const learnControlTokens = async (request: TokenizeRequest, parsed: TokenIds, call: CallOptions): Promise<void> => {
    const unknown = parsed.filter((id) => !control.has(id));
    if (unknown.length === 0) return;
    const unparsed = new Set(await encode(request, false, call));
    for (const id of new Set(unknown)) {
      if (unparsed.has(id)) continue;
      const text = await routes.decode([id], call);
      // Some servers decode control tokens as an empty text.
      if (text === '' || (await findControlToken(routes, text, call)) === id) control.add(id);
    }
  };
  const markers = { bos: bosText, eos: [eos, stopTokens[0]?.text].find((text) => text !== '') ?? '' };
  return {
    stopTokens,
    special: { bosToken, markers, endTokens } satisfies Partial<EngineInfo>,
    /** @throws BenchError `special-token` if a text with `as: 'text'` contains a known control token */
    tokenize: (texts: readonly TokenizeRequest[], call: CallOptions = {}) =>
      mapConcurrently(texts, async (request): Promise<TokenIds> => {
        const encoded = await encode(request, request.as === 'template', call);
        if (request.as === 'template') await learnControlTokens(request, encoded, call);
        const forged = request.as === 'text' ? encoded.find((id) => control.has(id)) : undefined;
        if (forged !== undefined) throw specialTokenError(request.text, forged);
        return encoded;
      }),
    detokenize: (lists: readonly TokenIds[], call: CallOptions = {}) =>
      mapConcurrently(lists, async (list) => {
        const shown = list.filter((id) => !control.has(id));
        if (shown.length === 0) return '';
        // Such a tokeniser removes a leading space when decoding, so decode after an anchor and cut that off.
        const content = await routes.decode(addsSpace ? [...anchor, ...shown] : shown, call);
        return addsSpace ? content.slice(content.indexOf(ANCHOR) + 1) : content;
      }),
  };
}

/** The control token that a text becomes if parsed; undefined if it becomes ordinary or several tokens. */
async function findControlToken(routes: TokenRoutes, text: string, options: CallOptions): Promise<TokenId | undefined> {
  if (text === '') return undefined;
  const parsed = await routes.encode(text, { parse: true }, options);
  const plain = await routes.encode(text, { parse: false }, options);
  return parsed.length === 1 && plain[0] !== parsed[0] ? parsed[0] : undefined;
}

/** Maps a list with a few concurrent requests; results in order of the list. */
async function mapConcurrently<From, To>(list: readonly From[], ask: (one: From) => Promise<To>): Promise<To[]> {
  const answers = new Array<To>(list.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < list.length; index = next++) answers[index] = await ask(list[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENT_REQUESTS, list.length) }, worker));
  return answers;
}
