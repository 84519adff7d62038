import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { CustomBatchingPrioritizationStrategy, LlamaModel, Token } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import { gpuNames, onOff } from '../../config/bench-config.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import type { EngineInfo } from '../engine-info.ts';
import { type EngineRequest, sessionWindow } from '../engine-adapter.ts';
import type { TokenizeRequest } from '../engine.ts';
import type { NumberType, Window } from '../sequence-state.ts';
import { describeModel, type ModelHeader, readModelHeader } from '../gguf/model-header.ts';
import { missingCapabilities } from '../gguf/missing-capabilities.ts';
import { checkCapacity, checkModelFile, hashModelFile } from '../gguf/model-file.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';
import { specialTokenError, type TokenIds } from '../token-id.ts';
import { probeExactPromptCuts } from './probe-exact-prompt-cuts.ts';
import { probeRestore } from './probe-restore.ts';
import { type LlamaBackend, llamaBackend } from './llama-backend.ts';
import { NativeSequence } from './native-sequence.ts';

const BATCH_TOKENS = 512;
/** Below this size, several threads spend more time waiting for each other than computing. */
const ONE_THREAD_BELOW_PARAMETERS = 50e6;

/** Options of the llama-cpp adapter, named as on the command line. */
export const llamaCppOptions = z.strictObject({
  /** Accelerator backend. Default: off, which means the CPU. */
  gpu: z.enum(gpuNames).exactOptional(),
  /** Layers on the accelerator, counting the output layer; the first layers stay on the CPU. Default: max. */
  gpuLayers: z.union([z.literal('max'), z.int().nonnegative()]).exactOptional(),
  /** Also decides the layout: values are stored by cell if on, transposed if off. Default: off. */
  flashAttention: z.enum(onOff).exactOptional(),
});

export type LlamaCppOptions = Readonly<z.output<typeof llamaCppOptions>>;

/** A model in memory, with a context for all sessions. */
export type LoadedModel = Awaited<ReturnType<typeof loadModel>>;

export interface LoadOptions extends LlamaCppOptions, CallOptions {
  readonly modelSha256?: string;
}

function completeRequest(request: EngineRequest, { parameters, trainContextTokens }: ModelHeader) {
  const { sessions = 1, kvType = 'F16', cores = availableParallelism() } = request;
  const threads = request.threads ?? (parameters < ONE_THREAD_BELOW_PARAMETERS ? 1 : cores);
  return { sessions, kvType, threads, window: sessionWindow(request, trainContextTokens) };
}

/** Loads a model file and makes a context. @throws BenchError `bad-model`, `bad-option`, `not-found`; the signal's reason */
export async function loadModel(
  modelPath: string,
  request: EngineRequest,
  { gpu = 'off', gpuLayers = 'max', flashAttention: attention = 'off', signal, modelSha256: knownSha256 }: LoadOptions,
) {
  const flashAttention = attention === 'on';
  const sizeBytes = checkModelFile(modelPath, process.availableMemory());
  const header = readModelHeader(modelPath);
  const { sessions, kvType, threads, window } = completeRequest(request, header);
  const backend = await llamaBackend(gpu);
  checkCapacity({ sessions, kvType, threads }, window, header, memoryForKv(backend, sizeBytes));
  // Discards log lines about earlier calls.
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
      knownSha256 ?? hashModelFile(modelPath, signal),
      import('node-llama-cpp'),
    ]);
    model = loaded;
    const context = await model.createContext({
      contextSize: window.cellTokens,
      sequences: sessions,
      threads,
      batchSize: BATCH_TOKENS,
      flashAttention,
      experimentalKvCacheKeyType: kvType,
      experimentalKvCacheValueType: kvType,
      // A smaller window than requested would silently change which prompts fit.
      failedCreationRemedy: false,
      // Otherwise llama.cpp drops cells behind a sliding window, and a session could not be truncated.
      swaFullCache: true,
      ...(signal && { createSignal: signal }),
      batching: {
        // Starts each pass immediately instead of waiting for other sequences to join it.
        dispatchSchedule: (dispatch) => dispatch(),
        itemPrioritizationStrategy: oneSequence,
      },
    });
    const batchTokens = context.batchSize;
    const { names: devices, memoryBytes } = await backend.devices();
    const compute = { backend: backend.name, devices, memoryBytes, layers: loaded.gpuLayers, flashAttention };
    const takeComplaint = () => backend.takeComplaint();
    const capabilities = await probeCapabilities(new NativeSequence(context, takeComplaint), header, {
      kvType,
      sessions,
      compute,
      contextTokens: window.contextTokens,
      signal,
    });
    // Another release may round otherwise.
    const { release } = backend.llama.llamaCppRelease;
    const stateIdentity = `llama.cpp ${release}, model ${modelSha256}, flash attention ${attention}, ${kvType}, batches of ${batchTokens}`;
    const placeIdentity = deviceIdentity(compute) + contextIdentity(capabilities, window);
    const detokenize = (ids: TokenIds): string => loaded.detokenize(ids as readonly Token[]);
    const tokenize = tokenizer(model);
    return {
      context,
      info: {
        engine: 'llama-cpp',
        build: { 'node-llama-cpp': await getModuleVersion(), 'llama.cpp': release },
        model: describeModel(header, sizeBytes),
        modelSha256,
        ...window,
        threads,
        compute,
        ...specialTokens(model, header.vocabularySize),
        stateIdentity: capabilities.checkpoints ? stateIdentity + placeIdentity : null,
      },
      capabilities,
      batchTokens,
      tokenizer: {
        tokenize: async (texts: readonly TokenizeRequest[]) => texts.map(tokenize),
        detokenize: async (lists: readonly TokenIds[]) => lists.map(detokenize),
      },
      detokenize,
      takeComplaint,
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

/** Free memory for KV. Infinite on accelerators, since llama.cpp itself refuses what does not fit there. */
function memoryForKv({ name }: LlamaBackend, weightBytes: number): number {
  return name === 'cpu' ? process.availableMemory() - weightBytes : Infinity;
}

/** Without known cells, a saved state fits only a context of the same size. */
function contextIdentity({ cells, sessions }: EngineCapabilities, { cellTokens }: Window): string {
  return cells === null ? `, ${sessions} sessions of ${cellTokens} tokens` : '';
}

interface ContextFacts extends CallOptions {
  readonly kvType: NumberType;
  readonly sessions: number;
  readonly compute: NonNullable<EngineInfo['compute']>;
  readonly contextTokens: number;
}

/** The capabilities by the model's file, and those that are tried. Disposes of the sequence. */
async function probeCapabilities(sequence: NativeSequence, header: ModelHeader, context: ContextFacts) {
  const { compute, contextTokens: windowTokens, signal } = context;
  const described = describeCapabilities(header, context);
  const { vocabularySize } = header;
  using folder = new TemporaryFolder();
  const test = { vocabularySize, windowTokens, statePath: join(folder.path, 'state') };
  try {
    const isLong = compute.backend !== 'cpu' || compute.flashAttention;
    const exactCuts = await probeExactPromptCuts(sequence, { ...test, isLong }, { signal });
    const probed = { ...described, exactCuts, ...truncationLimits(header, windowTokens) };
    const why = described.cells === null ? await probeRestore(sequence, test, { signal }) : null;
    if (why === null) return probed;
    return { ...probed, checkpoints: false, missing: { ...described.missing, promptCache: why, checkpoints: why } };
  } finally {
    await sequence.dispose();
  }
}

function truncationLimits({ isRecurrent, slidingWindowTokens: window = Infinity }: ModelHeader, contextTokens: number) {
  const slidingWindowTokens = window >= contextTokens ? null : window;
  return { truncatesUpTo: isRecurrent ? 0 : slidingWindowTokens, slidingWindowTokens };
}

function loadFailure(path: string, gpu: string, complaint: string | undefined, cause: unknown): BenchError {
  const why = complaint ?? (cause instanceof Error ? cause.message : String(cause));
  const hint =
    gpu === 'off'
      ? 'if the file was downloaded, download it again; if memory is short, lower --context-tokens'
      : 'if device memory is short, lower --gpu-layers or --context-tokens, or compute on the CPU: --gpu off';
  return new BenchError('bad-model', `${path}: llama.cpp cannot load it: ${why}`, hint, cause);
}

/**
 * Evaluates tokens of one sequence per pass, the one that has waited longest. In a mixed batch, sums would be rounded in another
 * order, so answers would depend on other sessions.
 */
const oneSequence: CustomBatchingPrioritizationStrategy = ({ items, size }) =>
  items.slice(0, 1).map((item) => ({ item, processAmount: Math.min(item.tokens.length, size) }));

function deviceIdentity({ backend, devices, layers }: NonNullable<EngineInfo['compute']>): string {
  return backend === 'cpu' ? '' : `, ${layers} layers by ${backend} on ${devices.join(' and ')}`;
}

function describeCapabilities(
  header: ModelHeader,
  { kvType, sessions, contextTokens, compute: { flashAttention } }: ContextFacts,
): Omit<EngineCapabilities, 'exactCuts' | 'truncatesUpTo' | 'slidingWindowTokens'> {
  const missing = missingCapabilities(header, { contextTokens });
  const { layers, kvHeads, headDimension, rotary } = header;
  const types = { keyType: kvType, valueType: kvType, valuesTransposed: !flashAttention };
  const cells: EngineCapabilities['cells'] =
    missing.cells !== undefined || kvHeads === undefined
      ? null
      : { layout: { layers, heads: kvHeads, headDimension, ...types }, rotary, sharedPositions: true, gaps: true };
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
    missing,
  };
}

function specialTokens(model: LlamaModel, vocabularySize: number) {
  const { tokens } = model;
  const text = (token: Token | null): string => (token === null ? '' : model.detokenize([token], true));
  return {
    bosToken: tokens.shouldPrependBosToken ? tokens.bos : null,
    markers: { bos: text(tokens.bos), eos: text(tokens.eos) },
    endTokens: Array.from({ length: vocabularySize }, (_, id) => id).filter((id) => model.isEogToken(id as Token)),
  };
}

function tokenizer(model: LlamaModel): (request: TokenizeRequest) => TokenIds {
  const { model: kind, add_space_prefix: addsPrefix } = model.fileInfo.metadata.tokenizer.ggml;
  const addsSpace = kind === 'llama' && addsPrefix !== false;
  const control = new Map<Token, boolean>();
  const isControl = (token: Token): boolean => {
    const known = control.get(token) ?? model.getTokenAttributes(token).control;
    control.set(token, known);
    return known;
  };
  return ({ text, as, first = false }) => {
    const tokens = model.tokenize(text, as === 'template', addsSpace && !first ? 'trimLeadingSpace' : undefined);
    const found = as === 'text' ? tokens.find(isControl) : undefined;
    if (found === undefined) return tokens;
    throw specialTokenError(text, model.detokenize([found], true));
  };
}
