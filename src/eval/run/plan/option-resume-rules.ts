import type { BenchConfig } from '../../../config/bench-config.ts';

/**
 * What an option changes: `kept` ones are those that a run began with, `planned` ones in its plan, `verified` ones may differ
 * if what they stand for is the same, `free` ones change no number.
 */
export type OptionEffect = 'kept' | 'planned' | 'verified' | 'free';

// prettier-ignore
const options = {
  kept: [
    'suite', 'dataset', 'dataFile', 'errata', 'engine', 'allowRemote', 'engineModel', 'retriever', 'coldIndex', 'retrievalTokens',
    'halfLife', 'salienceWeights', 'topK', 'threshold', 'alpha', 'limit', 'users', 'sessions', 'recurrence', 'seed', 'repeats',
    'systemPrompt', 'answerPrefix', 'generalAnswerPrefix', 'memoryHeader', 'labels', 'placement', 'template', 'reserve',
    'historyTurns', 'contextTokens', 'workers', 'shard', 'gpu', 'gpuLayers', 'flashAttention', 'margin', 'judge', 'judgeModel', 'kvStore',
    'kvBytes', 'text',
  ],
  planned: ['arms'],
  verified: [
    'model', 'engineUrl', 'slotsFolder', 'llamaServer', 'embedder', 'hot', 'cold', 'preRetrieval', 'threads',
  ],
  free: ['queue', 'failBelow', 'run', 'resume', 'out', 'db', 'json', 'quiet', 'databaseEcho', 'given'],
} as const satisfies Readonly<Record<OptionEffect, readonly (keyof BenchConfig)[]>>;

type Listed = (typeof options)[OptionEffect][number];

/** The effect of every option; one that is missing above does not compile. */
export const optionEffects: Readonly<Record<keyof BenchConfig, OptionEffect>> = Object.fromEntries(
  Object.entries(options).flatMap(([effect, names]) => names.map((name) => [name, effect])),
) as Record<Listed, OptionEffect>;

export const keptOptions: readonly (keyof BenchConfig)[] = options.kept;

/** The options on which a turn depends. */
export function decisiveOptions(config: Partial<BenchConfig>): Partial<BenchConfig> {
  return Object.fromEntries(keptOptions.filter((key) => key in config).map((key) => [key, config[key]]));
}
