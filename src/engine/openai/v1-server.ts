import { servedModel } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { ModelDescription } from '../engine-info.ts';
import { chatTemplateOf, NOT_SHOWN, propsShape } from '../http/llama-props.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { ServerTokenizer } from '../http/server-tokenizer.ts';
import type { TokenRoutes } from '../http/token-routes.ts';
import { optional } from './optional.ts';
import { tokenRoutesOf } from './v1-token-routes.ts';
import { tokenizerInfoShape, type V1Model, v1ModelsShape, versionShape } from './v1-shapes.ts';

/** A server with the model that is asked, as it describes both. */
export interface V1Server {
  readonly connection: ServerConnection;
  readonly model: V1Model;
  readonly description: ModelDescription;
  /** Name and version of the program. */
  readonly build: Readonly<Record<string, string>>;
  /** Longest sequence. */
  readonly windowTokens: number;
  /** Of a llama-server. */
  readonly slots: number | null;
  readonly tokenizer: ServerTokenizer;
  readonly routes: TokenRoutes;
}

const NO_TOKENISER = 'the server has no /tokenize and /detokenize, by which prompts are built of ids';
const ONLY_SERVED = 'an OpenAI-compatible server is asked for a model by its own name for it';

/**
 * Asks a server what it serves.
 * @param name as `--engine-model` names it; undefined where the only one is meant
 * @param file as `--model` names it
 * @throws BenchError `bad-model` for a model that it does not serve, `unsupported` without a tokeniser; `unreachable`, `protocol`
 */
export async function v1ServerOf(
  connection: ServerConnection,
  { name, file }: { readonly name: string | undefined; readonly file: string },
  options: CallOptions,
): Promise<V1Server> {
  if (file !== servedModel) {
    throw new BenchError('bad-option', `--model ${file}: ${ONLY_SERVED}`, 'drop --model, and give --engine-model NAME');
  }
  const model = await servedAs(connection, name, options);
  const tokens = await tokenRoutesOf(connection, model.id, options);
  if (tokens === undefined) {
    const hint = 'serve the model with vLLM, SGLang or llama-server, and name that server, not one in front of it';
    throw new BenchError('unsupported', `${connection.url}: ${NO_TOKENISER}`, hint);
  }
  const props = await optional(connection.get('/props', propsShape, options));
  const info = await optional(connection.get('/tokenizer_info', tokenizerInfoShape, options));
  const windowTokens = model.max_model_len ?? tokens.windowTokens ?? props?.default_generation_settings.n_ctx;
  if (windowTokens === undefined) throw connection.errors.protocol('does not say how long a sequence may be');
  const known = { bos: props?.bos_token, eos: props?.eos_token ?? info?.eos_token ?? undefined };
  const tokenizer = await ServerTokenizer.open(tokens.routes, known, options);
  const version = await optional(connection.get('/version', versionShape, options));
  return {
    ...{ connection, model, windowTokens, tokenizer, routes: tokens.routes, slots: props?.total_slots ?? null },
    build:
      version !== undefined
        ? { server: `vLLM or SGLang ${version.version}` }
        : { server: props === undefined ? NOT_SHOWN : `llama-server ${props.build_info}` },
    description: {
      name: model.id,
      architecture: NOT_SHOWN,
      parameters: model.meta?.n_params ?? null,
      sizeBytes: model.meta?.size ?? null,
      trainContextTokens: model.meta?.n_ctx_train ?? windowTokens,
      vocabularySize: model.meta?.n_vocab ?? null,
      layers: null,
      kvBytesPerToken: null,
      attention: NOT_SHOWN,
      rope: null,
      stopTokens: tokenizer.ends,
      chatTemplate: props === undefined ? (info?.chat_template ?? null) : chatTemplateOf(props),
    },
  };
}

/** @throws BenchError `changed` where the server no longer has the model, or another under its name */
export async function requireSameModel(
  { connection, model }: Pick<V1Server, 'connection' | 'model'>,
  options: CallOptions,
): Promise<void> {
  const { data } = await connection.get('/v1/models', v1ModelsShape, options);
  const now = data.find(({ id }) => id === model.id);
  const facts = ({ root, max_model_len: window, meta }: V1Model): string =>
    [
      root,
      window === null || window === undefined ? undefined : `${window} tokens`,
      meta && `${meta.n_params} parameters`,
    ]
      .filter((fact) => fact !== null && fact !== undefined)
      .join(', ') || 'no more than its name';
  if (now === undefined) {
    throw connection.errors.changed(`it serves ${data.map(({ id }) => id).join(', ')} now, and ${model.id} before`);
  }
  if (facts(now) === facts(model)) return;
  throw connection.errors.changed(`it says of ${model.id} now ${facts(now)}, and before ${facts(model)}`);
}

/** The model of a name; where none is named, the only one. */
async function servedAs(
  connection: ServerConnection,
  name: string | undefined,
  options: CallOptions,
): Promise<V1Model> {
  const { data } = await connection.get('/v1/models', v1ModelsShape, options);
  const names = data.map(({ id }) => id);
  const [only] = data.length === 1 ? data : [];
  const model = name === undefined ? only : data.find(({ id }) => id === name);
  if (model !== undefined) return model;
  const served = names.length === 0 ? 'it serves none' : `it serves ${names.join(', ')}`;
  if (name === undefined) {
    throw new BenchError(
      'bad-option',
      `${connection.url}: no model is named, and ${served}`,
      'add --engine-model NAME',
    );
  }
  throw new BenchError('bad-model', `--engine-model ${name}: ${connection.url} has no such model`, served);
}
