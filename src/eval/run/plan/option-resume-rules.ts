import type { BenchConfig } from '../../../config/bench-config.ts';

/**
 * What resuming does with an option. `fixed`: keeps the run's value. `planned`: keeps the run's plan. `verified`: takes the
 * new value, but requires that it names the same thing. `free`: takes the new value, which changes no number.
 */
export type ResumeRule = 'fixed' | 'planned' | 'verified' | 'free';

// prettier-ignore
const options = {
  fixed: [
    'suite', 'dataset', 'dataFile', 'errata', 'engine', 'allowRemote', 'engineModel', 'retriever', 'coldIndex', 'retrievalTokens',
    'halfLife', 'salienceWeights', 'topK', 'threshold', 'alpha', 'limit', 'users', 'sessions', 'recurrence', 'lengths', 'seed', 'repeats',
    'systemPrompt', 'answerPrefix', 'generalAnswerPrefix', 'memoryHeader', 'labels', 'placement', 'template', 'reserve',
    'historyTurns', 'contextTokens', 'workers', 'shard', 'gpu', 'gpuLayers', 'flashAttention', 'margin', 'judge', 'judgeModel', 'kvStore',
    'externalKv', 'kvBytes', 'text', 'trace', 'traceRun', 'traceArm', 'replay',
  ],
  planned: ['arms'],
  verified: [
    'model', 'embedder', 'preRetrieval', 'hot', 'cold', 'threads', 'engineUrl', 'slotsFolder', 'llamaServer',
  ],
  free: [
    'queue', 'failBelow', 'run', 'resume', 'out', 'db', 'json', 'freshSelfTest', 'quiet', 'verbose', 'databaseEcho', 'given',
  ],
} as const satisfies Readonly<Record<ResumeRule, readonly (keyof BenchConfig)[]>>;

type Listed = (typeof options)[ResumeRule][number];

/** The rule of every option. A missing option does not compile. */
export const resumeRules: Readonly<Record<keyof BenchConfig, ResumeRule>> = Object.fromEntries(
  Object.entries(options).flatMap(([effect, names]) => names.map((name) => [name, effect])),
) as Record<Listed, ResumeRule>;

export const fixedOptions: readonly (keyof BenchConfig)[] = options.fixed;

/** Options of the machine. Runs do not store them, so that a resumed run needs them again. */
export const machineOptions = options.verified;

/** The options on which a turn depends. */
export function decisiveOptions(config: Partial<BenchConfig>): Partial<BenchConfig> {
  return Object.fromEntries(fixedOptions.filter((key) => key in config).map((key) => [key, config[key]]));
}
