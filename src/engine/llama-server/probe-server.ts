import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { servedModel } from '../../config/bench-config.ts';
import { type EngineCapabilities, serverCapabilities } from '../engine-capabilities.ts';
import type { KnownModel } from '../engine-info.ts';
import type { CallOptions } from '../engine-session.ts';
import { controlTokens, describeModel, type ModelHeader, readModelHeader } from '../gguf/model-header.ts';
import { checkModelFile } from '../gguf/model-file.ts';
import { scoredModel } from '../http/forced-score.ts';
import { openPromptTokenLedger } from '../http/prompt-token-ledger.ts';
import { chatTemplate, modelsShape, propsShape, hiddenModelFields } from '../http/model-response-schemas.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { llamaTokenRoutes, openServerTokenizer } from '../http/server-tokenizer.ts';
import type { TokenIds } from '../token-id.ts';
import { completionShape, promptTokens, slotsShape } from './slot.ts';
import { probeSlotSaving } from './probe-slot-saving.ts';

const WHOLE_MODEL = 'the server can only run the whole model';
/** Texts of several tokens, with different first tokens. */
const PROMPTS = [
  'The river runs past the old mill and the stone bridge.',
  'We met a painter in the harbour that winter.',
];

export type ProbedServer = Awaited<ReturnType<typeof probeServer>>;

/** How to reach a server, and its files on this machine. */
export interface Endpoint {
  readonly connection: ServerConnection;
  /** The model's name in the request: a file, the server's name for it, or `served`. */
  readonly name: string;
  readonly file: string | undefined;
  /** The folder for saved slots; undefined if not given. */
  readonly slotsFolder: string | undefined;
  readonly close: () => Promise<void>;
}

/**
 * Describes a server, and tests its capabilities with a few short prompts in its first slot.
 * @throws BenchError `bad-option` naming the flags that the server lacks; `bad-model`, `unreachable`, `busy`, `protocol`
 */
export async function probeServer(endpoint: Endpoint, options: CallOptions = {}) {
  const { connection, slotsFolder } = endpoint;
  const served = await loadedServer(endpoint, options);
  await requireFlags(connection, slotsFolder, options);
  const slots = await connection.get('/slots', slotsShape, options);
  if (slots.some(({ speculative }) => speculative === true)) {
    const hint = 'start it without a draft model';
    throw new BenchError('bad-option', `${connection.url}: llama-server uses speculative decoding`, hint);
  }
  const texts = [...PROMPTS, 'a'].map((text) => ({ text, as: 'text' }) as const);
  const [first, second, plain] = await served.tokenizer.tokenize(texts, options);
  await proveReuse(connection, [first!, second!], options);
  const { states, cells, missing } = await probeSlotSaving(endpoint, served, [first![0]!, second![0]!], options);
  const { vocabularySize } = served.description;
  const scored = scoredModel(vocabularySize, plain!.at(-1)!);
  const { listed } = scored;
  return {
    served,
    slots: served.props.total_slots,
    slotTokens: served.props.default_generation_settings.n_ctx,
    states,
    scored,
    capabilities: {
      tokenIds: true,
      logProbabilities: { next: listed, continuation: 'steps' },
      prefixCache: { span: 'session', blockTokens: 1 },
      checkpoints: states !== null,
      cells,
      ...serverCapabilities,
      missing: {
        ...missing,
        ...(listed === 'all'
          ? {}
          : { fullDistribution: `the server would send ${vocabularySize} probabilities as text for each token` }),
        shift: 'the server cannot move tokens within a slot',
        firstLayers: WHOLE_MODEL,
        queries: WHOLE_MODEL,
      },
    } satisfies Omit<EngineCapabilities, 'sessions'>,
  };
}

/**
 * The loaded model, as described by the server and, if given, by the model's file.
 * @throws BenchError `bad-model` if the server has loaded another model; `unreachable`, `protocol`
 */
async function loadedServer({ connection, name, file }: Endpoint, options: CallOptions) {
  const props = await connection.get('/props', propsShape, options);
  const { data } = await connection.get('/v1/models', modelsShape, options);
  const [model] = data;
  const meta = model?.meta ?? undefined;
  if (model === undefined || meta === undefined) {
    throw connection.errors.protocol('does not say in /v1/models which model it has loaded');
  }
  if (file === undefined && name !== servedModel && name !== model.id) {
    const hint = `drop --model, or name the served model: ${model.id}`;
    throw new BenchError('bad-model', `--model ${name}: ${connection.url} serves ${model.id}`, hint);
  }
  const alias = model.id;
  const control = file === undefined ? [] : controlTokens(file);
  const known = { bos: props.bos_token, eos: props.eos_token, control };
  const tokenizer = await openServerTokenizer(llamaTokenRoutes(connection), known, options);
  if (file !== undefined) {
    const header = readModelHeader(file);
    requireSameSizes(connection.url, file, header, meta);
    const description = describeModel(header, checkModelFile(file, Infinity));
    return { props, alias, description, header, tokenizer };
  }
  const description: KnownModel = {
    ...hiddenModelFields,
    name: basename(props.model_path, '.gguf'),
    architecture: meta.architecture ?? hiddenModelFields.architecture,
    parameters: meta.n_params,
    sizeBytes: meta.size,
    trainContextTokens: meta.n_ctx_train,
    vocabularySize: meta.n_vocab,
    stopTokens: tokenizer.stopTokens,
    chatTemplate: chatTemplate(props),
  };
  return { props, alias, description, header: undefined, tokenizer };
}

/** Compares sizes, because a server shows no hash of its model. Later `probeSlotSaving` compares keys of the first layer. */
function requireSameSizes(
  url: string,
  file: string,
  header: ModelHeader,
  meta: { readonly n_params: number; readonly n_vocab: number; readonly n_ctx_train: number },
): void {
  const sizes = [
    ['parameters', header.storedParameters, meta.n_params],
    ['tokens in the vocabulary', header.vocabularySize, meta.n_vocab],
    ['tokens of context in training', header.trainContextTokens, meta.n_ctx_train],
  ] as const;
  for (const [what, own, served] of sizes) {
    if (own === served) continue;
    throw new BenchError(
      'bad-model',
      `${file}: not the model that ${url} has loaded: ${own} ${what}, but the server has ${served}`,
      'name the GGUF file that the server was started with: --model FILE',
    );
  }
}

/** @throws BenchError `bad-option` naming the flags that the server lacks */
async function requireFlags(connection: ServerConnection, slotsFolder: string | undefined, options: CallOptions) {
  const flags = [
    ['--slots', '/slots', undefined],
    ['--metrics', '/metrics', undefined],
    ...(slotsFolder === undefined ? [] : [['--slot-save-path DIR', '/slots/0?action=erase', {}] as const]),
  ] as const;
  const lacking: string[] = [];
  for (const [flag, path, body] of flags) {
    try {
      await connection.text(path, body, options);
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'unsupported') throw error;
      lacking.push(flag);
    }
  }
  if (lacking.length === 0) return;
  throw new BenchError(
    'bad-option',
    `${connection.url}: llama-server was started without ${lacking.join(' and ')}`,
    'start it with --slots --metrics --cache-ram 0 --slot-save-path DIR, and a --ctx-size of --parallel times the window',
  );
}

/**
 * Tests that a slot reuses exactly the tokens that it holds. Sends prompt A, then B with another first token, then A twice. The
 * first repetition of A must reuse nothing, because B replaced it in the slot; the second must reuse all. The counts in the answers must
 * add up to the server's counters.
 * @param prompts A and B, with different first ids
 * @throws BenchError `bad-option` if the server reuses from another cache; `protocol` if counts differ
 */
async function proveReuse(
  connection: ServerConnection,
  [first, second]: readonly [TokenIds, TokenIds],
  options: CallOptions,
): Promise<void> {
  const { url, errors } = connection;
  const ledger = await openPromptTokenLedger(connection, options);
  const reused: number[] = [];
  for (const prompt of [first, second, first, first]) {
    const body = { prompt, id_slot: 0, n_predict: 0, cache_prompt: true, n_cache_reuse: 0, return_tokens: true };
    const { timings } = await connection.post('/completion', body, completionShape, options);
    const counts = promptTokens(timings, prompt);
    ledger.add(counts);
    reused.push(counts.reused);
  }
  const [, , third, fourth] = reused;
  if (third !== 0) {
    throw new BenchError(
      'bad-option',
      `${url}: the server has another cache: it reused ${third} tokens that the slot did not hold`,
      'start it with --cache-ram 0',
    );
  }
  if (fourth !== first.length - 1) {
    throw errors.protocol(`reports ${fourth} reused tokens for a slot that held ${first.length - 1} of them`);
  }
  const audit = await ledger.requireAgreement(options);
  if (audit === null) throw errors.protocol('has no counter prompt_tokens_total in /metrics');
}
