import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { servedModel } from '../../config/bench-config.ts';
import type { CallOptions } from '../engine-session.ts';
import {
  chatTemplate,
  modelsShape,
  propsShape,
  type ServedModel,
  hiddenModelFields,
} from '../http/model-response-schemas.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { optional } from '../http/server-errors.ts';
import { openServerTokenizer, type TokenRoutes, ANCHOR, llamaTokenRoutes } from '../http/server-tokenizer.ts';
import type { TokenIds } from '../token-id.ts';

const versionShape = z.object({ version: z.string() });

/** Response of vLLM's `/tokenizer_info`, which needs --enable-tokenizer-info-endpoint. */
const tokenizerInfoShape = z.object({
  chat_template: z.string().nullish(),
  eos_token: z.string().nullish().catch(null),
});

export type V1Server = Awaited<ReturnType<typeof describeV1Server>>;

const NO_TOKENISER = 'the server lacks /tokenize and /detokenize, which are needed to build prompts of token ids';
const ONLY_SERVED = 'an OpenAI-compatible server needs its own name for the model';
/**
 * Describes a server and one of its models.
 * @param model `name`: value of `--engine-model`, optional if the server has only one model; `file`: value of `--model`
 * @throws BenchError `bad-model` if the server lacks the model, `unsupported` if it has no tokeniser; `bad-option`, `unreachable`,
 * `protocol`
 */
export async function describeV1Server(
  connection: ServerConnection,
  { name, file }: { readonly name: string | undefined; readonly file: string },
  options: CallOptions,
) {
  if (file !== servedModel) {
    throw new BenchError('bad-option', `--model ${file}: ${ONLY_SERVED}`, 'drop --model, and give --engine-model NAME');
  }
  const model = await findModel(connection, name, options);
  const found = await findTokenRoutes(connection, model.id, options);
  if (found === undefined) {
    const hint = 'use vLLM, SGLang or llama-server directly, not through a proxy';
    throw new BenchError('unsupported', `${connection.url}: ${NO_TOKENISER}`, hint);
  }
  const { routes } = found;
  const details = await readDetails(connection, options);
  const windowTokens = model.max_model_len ?? found.windowTokens ?? details.windowTokens;
  if (windowTokens === undefined) throw connection.errors.protocol('does not tell how long a sequence may be');
  const tokenizer = await openServerTokenizer(routes, details, options);
  const { chatTemplate } = details;
  const description = { ...describeServed(model, windowTokens), stopTokens: tokenizer.stopTokens, chatTemplate };
  const build = { server: details.build ?? 'not shown by the server' };
  return { connection, model, windowTokens, tokenizer, routes, slots: details.slots, build, description };
}

function describeServed({ id, meta }: ServedModel, windowTokens: number) {
  return {
    ...hiddenModelFields,
    name: id,
    parameters: meta?.n_params ?? null,
    sizeBytes: meta?.size ?? null,
    trainContextTokens: meta?.n_ctx_train ?? windowTokens,
    vocabularySize: meta?.n_vocab ?? null,
  };
}

/** Reads optional details of llama-server, vLLM or SGLang; `slots` are those of a llama-server. */
async function readDetails(connection: ServerConnection, options: CallOptions) {
  const props = await optional(connection.get('/props', propsShape, options));
  const info = await optional(connection.get('/tokenizer_info', tokenizerInfoShape, options));
  const version = await optional(connection.get('/version', versionShape, options));
  const build = version === undefined ? undefined : `vLLM or SGLang ${version.version}`;
  const eos = info?.eos_token ?? undefined;
  if (props === undefined) return { build, slots: null, eos, chatTemplate: info?.chat_template ?? null };
  return {
    build: build ?? `llama-server ${props.build_info}`,
    windowTokens: props.default_generation_settings.n_ctx,
    slots: props.total_slots,
    bos: props.bos_token,
    eos: props.eos_token ?? eos,
    chatTemplate: chatTemplate(props),
  };
}

/** @throws BenchError `changed` if the server no longer has the model, or another one under its name */
export async function requireSameModel(
  { connection, model }: Pick<V1Server, 'connection' | 'model'>,
  options: CallOptions,
): Promise<void> {
  const { data } = await connection.get('/v1/models', modelsShape, options);
  const now = data.find(({ id }) => id === model.id);
  if (now === undefined) {
    throw connection.errors.changed(`it serves ${data.map(({ id }) => id).join(', ')} now, but served ${model.id}`);
  }
  if (modelFacts(now) === modelFacts(model)) return;
  throw connection.errors.changed(`${model.id} is now ${modelFacts(now)}, but was ${modelFacts(model)}`);
}

function modelFacts({ root, max_model_len: window, meta }: ServedModel): string {
  const facts = [root, window && `${window} tokens`, meta && `${meta.n_params} parameters`];
  return facts.filter((fact) => fact !== null && fact !== undefined).join(', ') || 'without details';
}

async function findModel(connection: ServerConnection, name: string | undefined, options: CallOptions) {
  const { data } = await connection.get('/v1/models', modelsShape, options);
  const found = name === undefined ? data : data.filter(({ id }) => id === name);
  if (found.length === 1) return found[0]!;
  const served = `it serves ${data.map(({ id }) => id).join(', ') || 'none'}`;
  if (name === undefined) {
    const message = `${connection.url}: no model is named; ${served}`;
    throw new BenchError('bad-option', message, 'add --engine-model NAME');
  }
  throw new BenchError('bad-model', `--engine-model ${name}: ${connection.url} has no such model`, served);
}

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
export async function findTokenRoutes(connection: ServerConnection, model: string, options: CallOptions) {
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
