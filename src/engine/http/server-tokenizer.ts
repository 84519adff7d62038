import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import type { EngineInfo, ModelDescription } from '../engine-info.ts';
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

interface FoundTokens extends Pick<EngineInfo, 'bosToken' | 'markers'>, Pick<ModelDescription, 'stopTokens'> {
  readonly control: TokenIds;
  readonly addsSpace: boolean;
  readonly anchor: TokenIds;
}

/** A server's tokeniser. It detects control tokens by encoding a text with and without parsing them. */
export class ServerTokenizer {
  readonly stopTokens: ModelDescription['stopTokens'];
  readonly special: Pick<EngineInfo, 'bosToken' | 'markers' | 'endTokens'>;
  readonly #routes: TokenRoutes;
  readonly #control: Set<TokenId>;
  readonly #addsSpace: boolean;
  readonly #anchor: TokenIds;

  private constructor(routes: TokenRoutes, { stopTokens, bosToken, markers, ...found }: FoundTokens) {
    this.stopTokens = stopTokens;
    this.special = { bosToken, markers, endTokens: stopTokens.map(({ id }) => id) };
    this.#routes = routes;
    this.#control = new Set(found.control);
    this.#addsSpace = found.addsSpace;
    this.#anchor = found.anchor;
  }

  static async open(routes: TokenRoutes, { bos, eos = '', control = [] }: KnownTokens, options: CallOptions) {
    const ids = (text: string, parse = false, add = false): Promise<TokenIds> =>
      routes.encode(text, { parse, add }, options);
    const stopTokens: { id: TokenId; text: string }[] = [];
    for (const text of new Set([eos, ...END_TEXTS])) {
      const id = await findControlToken(routes, text, options);
      if (id !== undefined) stopTokens.push({ id, text });
    }
    const [plain, added] = [await ids(LETTER), await ids(LETTER, true, true)];
    const bosToken = added.length > plain.length && added[0] !== plain[0] ? added[0]! : null;
    const bosText = bos ?? (bosToken === null ? '' : await routes.decode([bosToken], options));
    const found = [...stopTokens.map(({ id }) => id), bosToken ?? (await findControlToken(routes, bosText, options))];
    const anchor = await ids(ANCHOR);
    return new ServerTokenizer(routes, {
      control: [...control, ...found.filter((id) => id !== undefined)],
      addsSpace: (await ids(ANCHOR + LETTER)).slice(anchor.length).join() !== plain.join(),
      anchor,
      stopTokens,
      bosToken,
      markers: { bos: bosText, eos: [eos, stopTokens[0]?.text].find((text) => text !== '') ?? '' },
    });
  }

  /** @throws BenchError `special-token` if a text with `as: 'text'` contains a known control token */
  async tokenize(texts: readonly TokenizeRequest[], options: CallOptions = {}): Promise<readonly TokenIds[]> {
    return mapConcurrently(texts, async (request) => {
      const ids = await this.#encode(request, request.as === 'template', options);
      if (request.as === 'template') {
        await this.#learnControlTokens(request, ids, options);
        return ids;
      }
      const found = ids.find((id) => this.#control.has(id));
      if (found !== undefined) throw specialTokenError(request.text, found);
      return ids;
    });
  }

  async detokenize(lists: readonly TokenIds[], options: CallOptions = {}): Promise<readonly string[]> {
    return mapConcurrently(lists, async (ids) => {
      const shown = ids.filter((id) => !this.#control.has(id));
      if (shown.length === 0) return '';
      // Such a tokeniser removes a leading space when decoding, so decode after an anchor and cut that off.
      const tokens = this.#addsSpace ? [...this.#anchor, ...shown] : shown;
      const content = await this.#routes.decode(tokens, options);
      return this.#addsSpace ? content.slice(content.indexOf(ANCHOR) + 1) : content;
    });
  }

  async #encode({ text, first = false }: TokenizeRequest, parse: boolean, options: CallOptions): Promise<TokenIds> {
    if (text === '') return [];
    if (!this.#addsSpace || first) return this.#routes.encode(text, { parse }, options);
    const anchored = await this.#routes.encode(ANCHOR + text, { parse }, options);
    return anchored.slice(this.#anchor.length);
  }

  /**
   * Learns the control tokens in a template: ids that are missing if the same text is encoded without parsing, and whose own text
   * becomes a control token. The second test is needed because without parsing, an ordinary token may also be missing: it can merge
   * with the first character of a control token's name.
   */
  async #learnControlTokens(request: TokenizeRequest, ids: TokenIds, options: CallOptions): Promise<void> {
    const unknown = ids.filter((id) => !this.#control.has(id));
    if (unknown.length === 0) return;
    const plain = new Set(await this.#encode(request, false, options));
    for (const id of new Set(unknown)) {
      if (plain.has(id)) continue;
      const text = await this.#routes.decode([id], options);
      // Some servers decode control tokens as an empty text.
      if (text === '' || (await findControlToken(this.#routes, text, options)) === id) this.#control.add(id);
    }
  }
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
