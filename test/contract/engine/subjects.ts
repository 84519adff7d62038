import { type GpuName, gpuNames } from '../../../src/config/bench-config.ts';
import { presetModels } from '../../../src/models/default-models.ts';
import type { EngineCapabilities } from '../../../src/engine/engine-capabilities.ts';
import type { EngineOpener } from '../../../src/engine/engine-adapter.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { llamaCpp } from '../../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { fakeAdapter } from '../../fixtures/fake-engine/fake-adapter.ts';
import { fakeServerOpener } from '../../fixtures/fake-llama-server/fake-llama-server.ts';
import { fakeOpenAiOpener } from '../../fixtures/fake-openai-server/fake-openai-server.ts';

/** An adapter with a model, and what the port shall show of them. */
export interface Subject {
  readonly name: string;
  readonly opener: EngineOpener;
  readonly model: string;
  /** Of the same adapter and shape, with other weights. */
  readonly otherModel: string;
  /** Opened with two sessions. */
  readonly capabilities: EngineCapabilities;
  /** Largest difference of one key that was rotated, as a part of the largest key: the rounding of the stored type. */
  readonly keyRounding: number;
  /**
   * How to get an answer that ends at an end token. `likeliest`: greedy, as a trained model does; `asked`: the same, to this prompt in
   * the template of the model; a number, for random weights: the first of the seeds that are tried at a high temperature.
   */
  readonly ends: 'likeliest' | number | { readonly asked: string };
  /** A temperature at which answers are long and differ by seed. Default 3; servers may take no more than 2. */
  readonly warm?: number;
  /** Ids of tokens that leave a character unfinished are known when the answer is, and −1 until then. */
  readonly tellsIdsLater?: true;
  /** The engine does not show the model's file. */
  readonly hidesModel?: true;
  /** Cuts are exact, though the adapter, which does not know the arithmetic of its server, does not claim it. */
  readonly isExactAnyway?: true;
}

export const WINDOW = 1280;
export const SESSIONS = 2;

/** Of an engine in this process. */
export const inProcess = {
  tokenIds: true,
  logProbabilities: { next: 'all', continuation: 'pass' },
  prefixCache: null,
  checkpoints: true,
  truncatesUpTo: null,
  slidingWindowTokens: null,
  shift: true,
  firstLayers: true,
  queries: true,
  sessions: SESSIONS,
} as const;

const ofLlamaCpp = (
  model: string,
  otherModel: string,
  shape: { layers: number; heads: number; headDimension: number },
  rotary: NonNullable<EngineCapabilities['cells']>['rotary'],
  ends: Subject['ends'],
  flashAttention: 'on' | 'off' = 'off',
): Subject => ({
  name: `llama-cpp, ${model.split('/').at(-1)!}${flashAttention === 'on' ? ', flash attention' : ''}`,
  opener: llamaCpp.opener({ flashAttention }),
  model,
  otherModel,
  capabilities: {
    ...inProcess,
    cells: {
      layout: { ...shape, keyType: 'F16', valueType: 'F16', valuesTransposed: flashAttention === 'off' },
      rotary,
      sharedPositions: true,
      gaps: true,
    },
    leastTokens: 2,
    exactCuts: flashAttention === 'off' ? 1 : null,
    missing: { prefixCache: 'a session in this process drops the KV of truncated tokens' },
  },
  keyRounding: 2 ** -10,
  ends,
});

const tiny = { layers: 3, heads: 2, headDimension: 16 };

/** Llama 3's factor of the fourth pair, which lies between those of short and of long wavelengths. */
const smooth = (512 / (2 * Math.PI * 10_000 ** (3 / 8)) - 1) / 3;
const bent = Math.fround(1 / ((1 - smooth) / 8 + smooth));

/** An engine whose KV cannot leave it. */
export const noKv = { checkpoints: false, cells: null, shift: false, firstLayers: false, queries: false } as const;

const KV_NAMES = ['checkpoints', 'cells', 'sharedPositions', 'shift', 'firstLayers', 'queries'] as const;

export const missingKv = (why: string): EngineCapabilities['missing'] =>
  Object.fromEntries(KV_NAMES.map((name) => [name, why]));

export const fakeCells: NonNullable<EngineCapabilities['cells']> = {
  layout: { layers: 2, heads: 1, headDimension: 24, keyType: 'F32', valueType: 'F32', valuesTransposed: false },
  rotary: { base: 10_000, scale: 1, pairing: 'neox', dimensions: 16, factors: null },
  sharedPositions: true,
  gaps: true,
};

export const ofFake = {
  model: 'fake',
  otherModel: 'fake:8',
  capabilities: {
    ...inProcess,
    cells: fakeCells,
    leastTokens: 1,
    exactCuts: 1,
    missing: { prefixCache: 'the fake engine has none' },
  },
  keyRounding: 2 ** -22,
  ends: 3,
} as const;
export const withdrawn = 'the fake engine was opened without it';

/** The shipped model, with KV in the one layout or the other. */
const ofShippedModel = (flashAttention: 'on' | 'off'): Subject =>
  ofLlamaCpp(
    presetModels.model,
    'random:tiny-llama',
    { layers: 8, heads: 2, headDimension: 32 },
    { base: 10_000, scale: 1, pairing: 'norm', dimensions: 32, factors: null },
    'likeliest',
    flashAttention,
  );

/** Where `scripts/gpu/gpu.sh` tries the shipped model. */
const accelerator = gpuNames.find((name) => name === process.env['DKI_BENCH_GPU']);

const onAccelerator = (gpu: GpuName): Subject => {
  const subject = ofShippedModel('off');
  return {
    ...subject,
    name: `llama-cpp on ${gpu}, the shipped model`,
    opener: llamaCpp.opener({ gpu }),
    capabilities: { ...subject.capabilities, exactCuts: gpu === 'off' ? 1 : null },
  };
};

/** A server, with two sessions. */
export const ofServer = (
  own: Pick<EngineCapabilities, 'checkpoints' | 'missing'> & Partial<EngineCapabilities>,
): EngineCapabilities => ({
  tokenIds: true,
  logProbabilities: { next: 'all', continuation: 'steps' },
  prefixCache: { span: 'session', blockTokens: 1 },
  ...noKv,
  sessions: SESSIONS,
  leastTokens: 2,
  exactCuts: null,
  truncatesUpTo: null,
  slidingWindowTokens: null,
  ...own,
  missing: {
    ...own.missing,
    shift: 'the server cannot move tokens within a slot',
    firstLayers: 'the server can only run the whole model',
    queries: 'the server can only run the whole model',
  },
});
const noFile = 'the server does not show how keys are rotated: name its GGUF file with --model FILE';

/** An OpenAI-compatible server, with two sessions. */
export const ofOpenAi = (
  own: Pick<EngineCapabilities, 'missing' | 'prefixCache' | 'logProbabilities'> & Partial<EngineCapabilities>,
): EngineCapabilities => ({
  tokenIds: true,
  ...noKv,
  sessions: SESSIONS,
  leastTokens: 2,
  exactCuts: null,
  truncatesUpTo: null,
  slidingWindowTokens: null,
  ...own,
  missing: { ...missingKv(noStates), ...own.missing },
});
const noStates = 'an OpenAI-compatible server neither exports nor imports KV: use --engine llama-cpp or llama-server';

/** Each kind of engine, in the smallest model that shows it. */
export const subjects: readonly Subject[] = [
  ofLlamaCpp(
    'random:tiny-llama-rope-freqs',
    'random:tiny-llama',
    tiny,
    { base: 10_000, scale: 1, pairing: 'norm', dimensions: 16, factors: [1, 1, 1, bent, 8, 8, 8, 8] },
    10,
  ),
  ofLlamaCpp(
    'random:tiny-qwen3',
    'random:tiny-llama',
    { ...tiny, headDimension: 32 },
    { base: 1_000_000, scale: 1, pairing: 'neox', dimensions: 32, factors: null },
    21,
  ),
  ofShippedModel('on'),
  { name: 'fake', opener: fakeAdapter.opener({}), ...ofFake },
  {
    name: 'fake, without KV',
    opener: fakeAdapter.opener({ cells: false, checkpoints: false, shift: false }),
    ...ofFake,
    capabilities: {
      ...ofFake.capabilities,
      ...noKv,
      missing: { ...ofFake.capabilities.missing, promptCache: withdrawn, ...missingKv(withdrawn) },
    },
  },
  {
    name: 'llama-server, its wire over the fake engine',
    opener: fakeServerOpener(true),
    ...ofFake,
    capabilities: ofServer({ checkpoints: true, missing: { cells: noFile, sharedPositions: noFile } }),
    tellsIdsLater: true,
    hidesModel: true,
    isExactAnyway: true,
  },
  {
    name: 'openai, the wire of vLLM over the fake engine',
    opener: fakeOpenAiOpener(),
    ...ofFake,
    capabilities: ofOpenAi({
      logProbabilities: { next: 20, continuation: 'recomputed' },
      prefixCache: { span: 'engine', blockTokens: 16 },
      missing: { fullDistribution: 'the server lists only the 20 likeliest tokens' },
    }),
    hidesModel: true,
    isExactAnyway: true,
  },
  ...(accelerator === undefined ? [] : [onAccelerator(accelerator)]),
];

/** Large, and nothing that the ones above do not show in parts. */
export const largeSubjects: readonly Subject[] = [ofShippedModel('off')];

/** Prompts in ids: memories, a question behind them, an answer. */
export interface Prompts {
  readonly memories: readonly number[];
  readonly question: readonly number[];
  readonly answer: readonly number[];
}

export async function promptsOf(engine: Engine): Promise<Prompts> {
  const [memories, question, answer] = await engine.tokenize([
    { text: '[1] My sister Ann lives in Leeds.\n[2] I like tea.\n', as: 'text', first: true },
    { text: '\nUser: Where does Ann live?\n\nAI:', as: 'text' },
    { text: ' In Leeds.', as: 'text' },
  ]);
  const bos = engine.info.bosToken === null ? [] : [engine.info.bosToken];
  return { memories: [...bos, ...memories!], question: question!, answer: answer! };
}

/** Of an engine that does not show its own. */
const MIN_VOCABULARY = 256;

/** Any tokens of the vocabulary but control tokens, so many of them. */
export function filler({ info }: Engine, count: number): number[] {
  const first = 20;
  const known = (info.model.vocabularySize ?? MIN_VOCABULARY) - first;
  return Array.from({ length: count }, (_, index) => first + ((index * 37) % known)).map((id) =>
    info.endTokens.includes(id) ? first : id,
  );
}
