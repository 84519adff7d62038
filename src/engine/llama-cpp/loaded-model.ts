import { availableParallelism } from 'node:os';
import type { CustomBatchingPrioritizationStrategy, LlamaContext, LlamaModel, Token } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import { type EngineInfo, type KnownModel, LONGEST_DEFAULT_CONTEXT_TOKENS } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import type { NumberType } from '../sequence-state.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import type { TokenizeRequest } from '../engine.ts';
import { type GgufHeader, readGgufHeader } from '../gguf/gguf-header.ts';
import { LlamaBackend } from './llama-backend.ts';
import type { LlamaCppOptions } from './llama-cpp-options.ts';
import { checkModelFile } from '../gguf/model-file.ts';
import { describeModel, missingCapabilities } from '../gguf/model-description.ts';
import { sha256OfModel } from '../gguf/model-file.ts';

const BATCH_TOKENS = 512;
/** Below this number of parameters, threads wait for each other longer than they work. */
const ONE_THREAD_BELOW_PARAMETERS = 50e6;

/** A model in memory, with a context of so many sequences. */
export interface LoadedModel {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly info: EngineInfo & { readonly model: KnownModel };
  readonly capabilities: EngineCapabilities;
  readonly batchTokens: number;
  readonly tokenize: (request: TokenizeRequest) => TokenIds;
  /** The first complaint of llama.cpp since it was last asked. */
  readonly takeComplaint: () => Promise<string | undefined>;
  readonly dispose: () => Promise<void>;
}

/** Options of loading a model. */
export interface LoadOptions extends LlamaCppOptions, CallOptions {
  /** Of the model's file, in hex, where it is known. */
  readonly modelSha256?: string;
}

/** A request with its defaults. */
function completeRequest(
  { sessions = 1, kvType = 'F16', cellsPerPosition = 1, cores = availableParallelism(), ...given }: EngineRequest,
  { parameters, trainContextTokens }: GgufHeader,
): Pick<EngineInfo, 'contextTokens' | 'cellTokens'> & {
  readonly sessions: number;
  readonly kvType: NumberType;
  readonly threads: number;
} {
  const threads = given.threads ?? (parameters < ONE_THREAD_BELOW_PARAMETERS ? 1 : cores);
  const contextTokens = given.contextTokens ?? Math.min(trainContextTokens, LONGEST_DEFAULT_CONTEXT_TOKENS);
  return { sessions, kvType, threads, contextTokens, cellTokens: contextTokens * cellsPerPosition };
}

/** Loads a model file and makes a context. @throws BenchError `bad-model`, `not-found`; the reason of the signal */
export async function loadModel(
  modelPath: string,
  request: EngineRequest,
  { gpu = 'off', gpuLayers = 'max', flashAttention: attention = 'off', signal, modelSha256: knownSha256 }: LoadOptions,
): Promise<LoadedModel> {
  const flashAttention = attention === 'on';
  const sizeBytes = checkModelFile(modelPath, process.availableMemory());
  const header = readGgufHeader(modelPath);
  const { sessions, kvType, threads, contextTokens, cellTokens } = completeRequest(request, header);
  const backend = await LlamaBackend.get(gpu);
  // Earlier complaints are not about this file.
  await backend.takeComplaint();
  let model: LlamaModel | undefined;
  try {
    const [loaded, modelSha256, { getModuleVersion }] = await Promise.all([
      backend.llama.loadModel({
        modelPath,
        defaultContextFlashAttention: flashAttention,
        gpuLayers: backend.name === 'cpu' ? 0 : gpuLayers,
        ...(signal && { loadSignal: signal }),
      }),
      knownSha256 ?? sha256OfModel(modelPath, signal),
      import('node-llama-cpp'),
    ]);
    model = loaded;
    const context = await model.createContext({
      contextSize: cellTokens,
      sequences: sessions,
      threads,
      batchSize: BATCH_TOKENS,
      flashAttention,
      experimentalKvCacheKeyType: kvType,
      experimentalKvCacheValueType: kvType,
      // A shorter window than requested would silently change what fits.
      failedCreationRemedy: false,
      ...(signal && { createSignal: signal }),
      batching: {
        // Each pass starts at once, without waiting for others.
        dispatchSchedule: (dispatch) => dispatch(),
        itemPrioritizationStrategy: oneSequence,
      },
    });
    const batchTokens = context.batchSize;
    const devices = await backend.devices();
    const compute: EngineInfo['compute'] = {
      backend: backend.name,
      devices: devices.names,
      memoryBytes: devices.memoryBytes,
      layers: loaded.gpuLayers,
      flashAttention,
    };
    const capabilities = describeCapabilities(header, kvType, sessions, compute);
    const info: LoadedModel['info'] = {
      engine: 'llama-cpp',
      build: { 'node-llama-cpp': await getModuleVersion(), 'llama.cpp': backend.llama.llamaCppRelease.release },
      model: describeModel(header, sizeBytes),
      modelSha256,
      contextTokens,
      cellTokens,
      threads,
      compute,
      ...specialTokens(model, header.vocabularySize),
      stateIdentity: capabilities.checkpoints
        ? `llama.cpp model ${modelSha256}, flash attention ${attention}, ${kvType}, batches of ${batchTokens}${deviceIdentity(compute)}`
        : null,
    };
    return {
      model,
      context,
      info,
      capabilities,
      batchTokens,
      tokenize: tokenizer(model),
      takeComplaint: () => backend.takeComplaint(),
      dispose: async () => {
        await context.dispose();
        await loaded.dispose();
      },
    };
  } catch (cause) {
    const complaint = await backend.takeComplaint();
    await model?.dispose();
    signal?.throwIfAborted();
    throw loadFailure(modelPath, gpu, complaint, cause);
  }
}

function loadFailure(path: string, gpu: string, complaint: string | undefined, cause: unknown): BenchError {
  const why = complaint ?? (cause instanceof Error ? cause.message : String(cause));
  const hint =
    gpu === 'off'
      ? 'if the file was downloaded, download it again; if memory is short, lower --context-tokens'
      : 'if memory of the device is short, lower --gpu-layers or --context-tokens; on the CPU: --gpu off';
  return new BenchError('bad-model', `${path}: llama.cpp cannot load it: ${why}`, hint, cause);
}

/**
 * A pass evaluates tokens of one sequence, the one that has waited longest: together with tokens of others its sums would be
 * rounded in another order, and an answer would depend on other sessions.
 */
const oneSequence: CustomBatchingPrioritizationStrategy = ({ items, size }) =>
  items.slice(0, 1).map((item) => ({ item, processAmount: Math.min(item.tokens.length, size) }));

/** The part of the state identity that names the device; empty for the CPU. */
function deviceIdentity({ backend, devices, layers }: NonNullable<EngineInfo['compute']>): string {
  return backend === 'cpu' ? '' : `, ${layers} layers by ${backend} on ${devices.join(' and ')}`;
}

function describeCapabilities(
  header: GgufHeader,
  kvType: NumberType,
  sessions: number,
  { backend, flashAttention }: NonNullable<EngineInfo['compute']>,
): EngineCapabilities {
  const missing = missingCapabilities(header);
  const { layers, kvHeads, headDimension, rope } = header;
  const { base, frequencyScale: scale, pairing, dimensions, frequencyFactors } = rope;
  const types = { keyType: kvType, valueType: kvType, valuesTransposed: !flashAttention };
  const cells: EngineCapabilities['cells'] =
    missing.cells !== undefined || kvHeads === undefined
      ? null
      : {
          layout: { layers, heads: kvHeads, headDimension, ...types },
          rotary: { base, scale, pairing, dimensions, factors: frequencyFactors ?? null },
          sharedPositions: true,
          gaps: true,
        };
  return {
    tokenIds: true,
    logProbabilities: { next: 'all', continuation: 'pass' },
    prefixCache: null,
    checkpoints: missing.checkpoints === undefined,
    cells,
    shift: missing.shift === undefined,
    firstLayers: missing.firstLayers === undefined,
    queries: missing.queries === undefined,
    sessions,
    leastTokens: 2,
    // Measured: kernels of accelerators and of flash attention depend on the length of a call.
    exactCuts: backend === 'cpu' && !flashAttention,
    missing,
  };
}

function specialTokens(
  model: LlamaModel,
  vocabularySize: number,
): Pick<EngineInfo, 'bosToken' | 'markers' | 'endTokens'> {
  const { tokens } = model;
  const text = (token: Token | null): string => (token === null ? '' : model.detokenize([token], true));
  return {
    bosToken: tokens.shouldPrependBosToken ? tokens.bos : null,
    markers: { bos: text(tokens.bos), eos: text(tokens.eos) },
    endTokens: Array.from({ length: vocabularySize }, (_, id) => id).filter((id) => model.isEogToken(id as Token)),
  };
}

function tokenizer(model: LlamaModel): LoadedModel['tokenize'] {
  const addsSpace = addsLeadingSpace(model);
  const control = new Map<TokenId, boolean>();
  const isControl = (token: Token): boolean => {
    const known = control.get(token) ?? model.getTokenAttributes(token).control;
    control.set(token, known);
    return known;
  };
  return ({ text, as, first = false }) => {
    const tokens = model.tokenize(text, as === 'template', addsSpace && !first ? 'trimLeadingSpace' : undefined);
    const found = as === 'text' ? tokens.find(isControl) : undefined;
    if (found === undefined) return tokens;
    throw new BenchError(
      'special-token',
      `the text ${JSON.stringify(text)} would become the control token ${model.detokenize([found], true)}`,
      'take the text out: no text of a user or a memory may forge a role or an end',
    );
  };
}

/** True where the tokeniser adds a space in front of a text. */
function addsLeadingSpace(model: LlamaModel): boolean {
  return (
    model.fileInfo.metadata.tokenizer.ggml.model === 'llama' &&
    model.fileInfo.metadata.tokenizer.ggml.add_space_prefix !== false
  );
}
