import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { servedModel } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { KnownModel } from '../engine-info.ts';
import { controlTokensOf } from '../gguf/control-tokens.ts';
import { type GgufHeader, readGgufHeader } from '../gguf/gguf-header.ts';
import { describeModel } from '../gguf/model-description.ts';
import { chatTemplateOf, modelsShape, NOT_SHOWN, propsShape, type ServerProps } from '../http/llama-props.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { ServerTokenizer } from '../http/server-tokenizer.ts';
import { llamaTokenRoutes } from '../http/token-routes.ts';

/** A server and the model that it has loaded, as they say themselves and as the model's file says, where it is named. */
export interface ServedModel {
  readonly props: ServerProps;
  /** As the server calls it in its answers. */
  readonly alias: string;
  readonly description: KnownModel;
  /** Of the model's file; undefined where none is named. */
  readonly header: GgufHeader | undefined;
  readonly tokenizer: ServerTokenizer;
}

/**
 * Asks a server what it has loaded.
 * @param named the model as it was asked for, and its GGUF file where that is one
 * @throws BenchError `bad-model` where it has loaded another one; `unreachable`, `protocol`
 */
export async function servedModelOf(
  connection: ServerConnection,
  { name, file }: { readonly name: string; readonly file: string | undefined },
  options: CallOptions,
): Promise<ServedModel> {
  const props = await connection.get('/props', propsShape, options);
  const { data } = await connection.get('/v1/models', modelsShape, options);
  const [model] = data;
  const meta = model?.meta;
  if (model === undefined || meta === undefined || meta === null) {
    throw connection.errors.protocol('does not say in /v1/models which model it has loaded');
  }
  if (file === undefined && name !== servedModel && name !== model.id) {
    const hint = `drop --model, or name what is served: ${model.id}`;
    throw new BenchError('bad-model', `--model ${name}: ${connection.url} serves ${model.id}`, hint);
  }
  const header = file === undefined ? undefined : readGgufHeader(file);
  if (header !== undefined) requireSame(connection.url, file!, header, meta);
  const control = file === undefined ? [] : controlTokensOf(file);
  const known = { bos: props.bos_token, eos: props.eos_token, control };
  const tokenizer = await ServerTokenizer.open(llamaTokenRoutes(connection), known, options);
  const description: KnownModel =
    header !== undefined
      ? describeModel(header, statSync(file!).size)
      : {
          name: basename(props.model_path, '.gguf'),
          architecture: meta.architecture ?? NOT_SHOWN,
          parameters: meta.n_params,
          sizeBytes: meta.size,
          trainContextTokens: meta.n_ctx_train,
          vocabularySize: meta.n_vocab,
          layers: null,
          kvBytesPerToken: null,
          attention: NOT_SHOWN,
          rope: null,
          stopTokens: tokenizer.ends,
          chatTemplate: chatTemplateOf(props),
        };
  return { props, alias: model.id, description, header, tokenizer };
}

type Meta = NonNullable<(typeof modelsShape)['_output']['data'][number]['meta']>;

/** Neither the server nor its slot files hold the model's own hash: sizes must do, and the keys of the first layer. */
function requireSame(url: string, file: string, header: GgufHeader, meta: Meta): void {
  const pairs = [
    ['parameters', header.parameters, meta.n_params],
    ['tokens in the vocabulary', header.vocabularySize, meta.n_vocab],
    ['tokens of context in training', header.trainContextTokens, meta.n_ctx_train],
  ] as const;
  const other = pairs.find(([, own, served]) => own !== served);
  if (other === undefined) return;
  const [what, own, served] = other;
  throw new BenchError(
    'bad-model',
    `${file}: not the model that ${url} has loaded: ${own} ${what}, and the server says ${served}`,
    'name the GGUF file that the server was started with: --model FILE',
  );
}
