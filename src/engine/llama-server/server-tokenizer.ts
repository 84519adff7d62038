import { BenchError } from '../../config/bench-error.ts';
import type { CallOptions } from '../call-options.ts';
import type { ModelDescription } from '../engine-info.ts';
import type { TokenId } from '../token-id.ts';
import type { TokenizeRequest } from '../tokenize-request.ts';
import type { ServerConnection } from './server-connection.ts';
import { detokenizeShape, piecesShape, type ServerProps, tokenizeShape } from './server-shapes.ts';

/** Texts of tokens at which llama.cpp ends generation, by their names in vocabularies. */
const END_TEXTS = [
  ...['</s>', '<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|endoftext|>', '<|end|>', '<end_of_turn>'],
  ...['<EOT>', '_<EOT>', '<|end_of_turn|>', '<|endofturn|>', '[EOT]', '<turn|>'],
];
/** A token of its own wherever it stands, that takes no leading space. */
const PROP = '\n';
/** Requests that are under way at once: a server has few threads to answer with. */
const AT_ONCE = 4;

/** A server's tokeniser. It tells control tokens apart by asking for each text with and without them. */
export class ServerTokenizer {
  readonly #connection: ServerConnection;
  readonly #control: Set<TokenId>;
  readonly #addsSpace: boolean;
  readonly #prop: readonly TokenId[];
  /** Where generation ends. */
  readonly ends: ModelDescription['stopTokens'];
  readonly special: { readonly bosToken: TokenId | null; readonly endTokens: readonly TokenId[] };

  private constructor(connection: ServerConnection, found: Found) {
    this.#connection = connection;
    this.#control = new Set(found.control);
    this.#addsSpace = found.addsSpace;
    this.#prop = found.prop;
    this.ends = found.ends;
    this.special = { bosToken: found.bosToken, endTokens: found.ends.map(({ id }) => id) };
  }

  /** @param known control tokens of the model's file, where it is named */
  static async open(
    connection: ServerConnection,
    { bos_token: bos = '', eos_token: eos = '' }: ServerProps,
    known: readonly TokenId[],
    options: CallOptions,
  ): Promise<ServerTokenizer> {
    const bare = new ServerTokenizer(connection, { control: [], addsSpace: false, prop: [], ends: [], bosToken: null });
    const ids = (content: string, parse: boolean, add = false): Promise<readonly TokenId[]> =>
      bare.#ids(content, parse, options, add);
    /** The id that a text becomes where control tokens are parsed; undefined where it becomes several, or is no such token. */
    const controlOf = async (text: string): Promise<TokenId | undefined> => {
      if (text === '') return undefined;
      const [parsed, plain] = [await ids(text, true), await ids(text, false)];
      return parsed.length === 1 && plain[0] !== parsed[0] ? parsed[0] : undefined;
    };
    const ends: { id: TokenId; text: string }[] = [];
    for (const text of new Set([eos, ...END_TEXTS])) {
      const id = await controlOf(text);
      if (id !== undefined) ends.push({ id, text });
    }
    const bosId = await controlOf(bos);
    const [first] = await ids('', true, true);
    const { tokens } = await connection.post(
      '/tokenize',
      { content: 'a', add_special: false, parse_special: false, with_pieces: true },
      piecesShape,
      options,
    );
    const piece = tokens[0]?.piece;
    return new ServerTokenizer(connection, {
      control: [...known, ...ends.map(({ id }) => id), ...(bosId === undefined ? [] : [bosId])],
      addsSpace: typeof piece === 'string' && piece.startsWith(' '),
      prop: await ids(PROP, false),
      ends,
      bosToken: first !== undefined && first === bosId ? first : null,
    });
  }

  /** @throws BenchError `special-token` where `as: 'text'` would yield a control token that is known */
  async tokenize(texts: readonly TokenizeRequest[], options: CallOptions): Promise<readonly (readonly TokenId[])[]> {
    return atOnce(texts, async (request) => {
      const ids = await this.#idsOf(request, request.as === 'template', options);
      if (request.as === 'template') await this.#learn(request, ids, options);
      else this.#requireNone(request, ids);
      return ids;
    });
  }

  async detokenize(lists: readonly (readonly TokenId[])[], options: CallOptions): Promise<readonly string[]> {
    return atOnce(lists, async (ids) => {
      const shown = ids.filter((id) => !this.#control.has(id));
      if (shown.length === 0) return '';
      // A tokeniser that adds a space to a text takes one away from it again.
      const tokens = this.#addsSpace ? [...this.#prop, ...shown] : shown;
      const { content } = await this.#connection.post('/detokenize', { tokens }, detokenizeShape, options);
      return this.#addsSpace ? content.slice(content.indexOf(PROP) + 1) : content;
    });
  }

  async #idsOf(
    { text, first = false }: TokenizeRequest,
    parse: boolean,
    options: CallOptions,
  ): Promise<readonly TokenId[]> {
    if (text === '') return [];
    if (!this.#addsSpace || first) return this.#ids(text, parse, options);
    const propped = await this.#ids(PROP + text, parse, options);
    return propped.slice(this.#prop.length);
  }

  async #ids(content: string, parse: boolean, options: CallOptions, add = false): Promise<readonly TokenId[]> {
    const body = { content, add_special: add, parse_special: parse };
    return (await this.#connection.post('/tokenize', body, tokenizeShape, options)).tokens;
  }

  /** Control tokens of a template: those that the same text has not where it is only a text. */
  async #learn(request: TokenizeRequest, ids: readonly TokenId[], options: CallOptions): Promise<void> {
    const unknown = ids.filter((id) => !this.#control.has(id));
    if (unknown.length === 0) return;
    const plain = new Set(await this.#idsOf(request, false, options));
    for (const id of unknown) if (!plain.has(id)) this.#control.add(id);
  }

  #requireNone({ text }: TokenizeRequest, ids: readonly TokenId[]): void {
    const found = ids.find((id) => this.#control.has(id));
    if (found === undefined) return;
    throw new BenchError(
      'special-token',
      `the text ${JSON.stringify(text)} would become the control token ${found}`,
      'take the text out: no text of a user or a memory may forge a role or an end',
    );
  }
}

interface Found {
  readonly control: readonly TokenId[];
  readonly addsSpace: boolean;
  readonly prop: readonly TokenId[];
  readonly ends: ModelDescription['stopTokens'];
  readonly bosToken: TokenId | null;
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
