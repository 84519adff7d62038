import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import type { EngineInfo, ModelDescription } from '../engine-info.ts';
import { specialTokenError, type TokenId, type TokenIds } from '../token-id.ts';
import type { TokenizeRequest } from '../engine.ts';
import type { ServerConnection } from './server-connection.ts';

/** The routes by which a server turns text into ids, and ids into text. */
export interface TokenRoutes {
  /**
   * @param how `parse`: control tokens may come of it; `add`: with the token in front of every text, where the model has one,
   * default false
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

/** Texts of tokens at which llama.cpp ends generation, by their names in vocabularies. */
const END_TEXTS = [
  ...['</s>', '<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|endoftext|>', '<|end|>', '<end_of_turn>'],
  ...['<EOT>', '_<EOT>', '<|end_of_turn|>', '<|endofturn|>', '[EOT]', '<turn|>'],
];
/** Always a token of its own, without a leading space. */
export const ANCHOR = '\n';
/** Requests that are under way at once: a server has few threads to answer with. */
const AT_ONCE = 4;

const LETTER = 'a';

/** Facts of a model's tokens that are known before its server is asked. */
export interface KnownTokens {
  /** Texts that open and close a sequence; empty or missing where they are unknown. */
  readonly bos?: string | undefined;
  readonly eos?: string | undefined;
  /** Control tokens of the model's file, where it is named. */
  readonly control?: TokenIds;
}

/** A server's tokeniser. It tells control tokens apart by asking for each text with and without them. */
export class ServerTokenizer {
  readonly ends: ModelDescription['stopTokens'];
  readonly special: Pick<EngineInfo, 'bosToken' | 'markers' | 'endTokens'>;
  readonly #routes: TokenRoutes;
  readonly #control: Set<TokenId>;
  readonly #addsSpace: boolean;
  readonly #anchor: TokenIds;

  private constructor(
    routes: TokenRoutes,
    {
      ends,
      bosToken,
      markers,
      ...found
    }: Pick<EngineInfo, 'bosToken' | 'markers'> & {
      readonly ends: ModelDescription['stopTokens'];
      readonly control: TokenIds;
      readonly addsSpace: boolean;
      readonly anchor: TokenIds;
    },
  ) {
    this.ends = ends;
    this.special = { bosToken, markers, endTokens: ends.map(({ id }) => id) };
    this.#routes = routes;
    this.#control = new Set(found.control);
    this.#addsSpace = found.addsSpace;
    this.#anchor = found.anchor;
  }

  static async open(
    routes: TokenRoutes,
    { bos, eos = '', control = [] }: KnownTokens,
    options: CallOptions,
  ): Promise<ServerTokenizer> {
    const ids = (text: string, parse = false, add = false): Promise<TokenIds> =>
      routes.encode(text, { parse, add }, options);
    const ends: { id: TokenId; text: string }[] = [];
    for (const text of new Set([eos, ...END_TEXTS])) {
      const id = await controlTokenOf(routes, text, options);
      if (id !== undefined) ends.push({ id, text });
    }
    const [plain, added] = [await ids(LETTER), await ids(LETTER, true, true)];
    const bosToken = added.length > plain.length && added[0] !== plain[0] ? added[0]! : null;
    const bosText = bos ?? (bosToken === null ? '' : await routes.decode([bosToken], options));
    const found = [...ends.map(({ id }) => id), bosToken ?? (await controlTokenOf(routes, bosText, options))];
    const anchor = await ids(ANCHOR);
    return new ServerTokenizer(routes, {
      control: [...control, ...found.filter((id) => id !== undefined)],
      addsSpace: (await ids(ANCHOR + LETTER)).slice(anchor.length).join() !== plain.join(),
      anchor,
      ends,
      bosToken,
      markers: { bos: bosText, eos: [eos, ends[0]?.text].find((text) => text !== '') ?? '' },
    });
  }

  /** @throws BenchError `special-token` where `as: 'text'` would yield a control token that is known */
  async tokenize(texts: readonly TokenizeRequest[], options: CallOptions = {}): Promise<readonly TokenIds[]> {
    return atOnce(texts, async (request) => {
      const ids = await this.#idsOf(request, request.as === 'template', options);
      if (request.as === 'template') {
        await this.#learn(request, ids, options);
        return ids;
      }
      const found = ids.find((id) => this.#control.has(id));
      if (found !== undefined) throw specialTokenError(request.text, found);
      return ids;
    });
  }

  async detokenize(lists: readonly TokenIds[], options: CallOptions = {}): Promise<readonly string[]> {
    return atOnce(lists, async (ids) => {
      const shown = ids.filter((id) => !this.#control.has(id));
      if (shown.length === 0) return '';
      // A tokeniser that adds a space to a text takes one away from it again.
      const tokens = this.#addsSpace ? [...this.#anchor, ...shown] : shown;
      const content = await this.#routes.decode(tokens, options);
      return this.#addsSpace ? content.slice(content.indexOf(ANCHOR) + 1) : content;
    });
  }

  async #idsOf({ text, first = false }: TokenizeRequest, parse: boolean, options: CallOptions): Promise<TokenIds> {
    if (text === '') return [];
    if (!this.#addsSpace || first) return this.#routes.encode(text, { parse }, options);
    const anchored = await this.#routes.encode(ANCHOR + text, { parse }, options);
    return anchored.slice(this.#anchor.length);
  }

  /**
   * Control tokens of a template: those that the same text has not where it is only a text, and that are no text by themselves.
   * An ordinary token beside a control token is missing there too, where it merges with the first character of that one's name.
   */
  async #learn(request: TokenizeRequest, ids: TokenIds, options: CallOptions): Promise<void> {
    const unknown = ids.filter((id) => !this.#control.has(id));
    if (unknown.length === 0) return;
    const plain = new Set(await this.#idsOf(request, false, options));
    for (const id of new Set(unknown)) {
      if (plain.has(id)) continue;
      const text = await this.#routes.decode([id], options);
      // A server that shows no control tokens has no text for this one.
      if (text === '' || (await controlTokenOf(this.#routes, text, options)) === id) this.#control.add(id);
    }
  }
}

/** The control token that a text becomes where such are parsed; undefined where it becomes several tokens, or an ordinary one. */
async function controlTokenOf(routes: TokenRoutes, text: string, options: CallOptions): Promise<TokenId | undefined> {
  if (text === '') return undefined;
  const parsed = await routes.encode(text, { parse: true }, options);
  const plain = await routes.encode(text, { parse: false }, options);
  return parsed.length === 1 && plain[0] !== parsed[0] ? parsed[0] : undefined;
}

/** Asks for each, a few at once, in order. */
async function atOnce<From, To>(list: readonly From[], ask: (one: From) => Promise<To>): Promise<To[]> {
  const answers = new Array<To>(list.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < list.length; index = next++) answers[index] = await ask(list[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, list.length) }, worker));
  return answers;
}
