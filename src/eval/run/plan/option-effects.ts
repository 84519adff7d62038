import type { BenchConfig } from '../../../config/bench-config.ts';

/**
 * The part that an option has in the numbers of a run, and so in going on with it: `kept` goes on with the value that the run
 * began with, `planned` with the arms of its plan, `verified` refuses another by what it stands for (bytes, device, place),
 * `free` changes no number.
 */
export type OptionEffect = 'kept' | 'planned' | 'verified' | 'free';

/** Of every option: one that is added must say what it changes. */
export const optionEffects = {
  suite: 'kept',
  arms: 'planned',
  dataset: 'kept',
  dataFile: 'kept',
  errata: 'kept',
  model: 'verified',
  engine: 'kept',
  engineUrl: 'verified',
  allowRemote: 'kept',
  engineModel: 'kept',
  slotsFolder: 'verified',
  llamaServer: 'verified',
  embedder: 'verified',
  retriever: 'kept',
  hot: 'verified',
  cold: 'verified',
  coldIndex: 'kept',
  retrievalTokens: 'kept',
  halfLife: 'kept',
  salienceWeights: 'kept',
  preRetrieval: 'verified',
  topK: 'kept',
  threshold: 'kept',
  alpha: 'kept',
  limit: 'kept',
  users: 'kept',
  sessions: 'kept',
  recurrence: 'kept',
  seed: 'kept',
  repeats: 'kept',
  systemPrompt: 'kept',
  answerPrefix: 'kept',
  generalAnswerPrefix: 'kept',
  labels: 'kept',
  placement: 'kept',
  template: 'kept',
  reserve: 'kept',
  historyTurns: 'kept',
  contextTokens: 'kept',
  threads: 'verified',
  workers: 'kept',
  shard: 'kept',
  queue: 'free',
  gpu: 'kept',
  gpuLayers: 'kept',
  flashAttention: 'kept',
  margin: 'kept',
  failBelow: 'free',
  judge: 'kept',
  judgeModel: 'kept',
  kvStore: 'kept',
  kvBytes: 'kept',
  text: 'kept',
  run: 'free',
  resume: 'free',
  out: 'free',
  db: 'free',
  json: 'free',
  quiet: 'free',
  databaseEcho: 'free',
  given: 'free',
} as const satisfies Readonly<Record<keyof BenchConfig, OptionEffect>>;

/** The options with which a run goes on as it began. */
export const keptOptions = (Object.keys(optionEffects) as (keyof BenchConfig)[]).filter(
  (key) => optionEffects[key] === 'kept',
);
