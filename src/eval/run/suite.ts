import { type BenchConfig, benchConfigSchema, type RetrieverName, type SuiteName } from '../../config/bench-config.ts';
import type { DatasetGenerator } from '../../data/generators/dataset-generator.ts';
import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import type { Measured } from '../../store/records/suite-measurements.ts';
import type { Retriever } from '../../retrieval/retriever.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { DrawnDataset } from './plan/plan-users.ts';

export interface MeasureContext {
  readonly config: BenchConfig;
  readonly datasets: readonly DrawnDataset[];
  /** The folder of the run's report; files that stay there are part of it. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly engines: EngineOpener;
  /** Opens a retriever with a separate index and, except for `options`, the run's options. The caller closes it. */
  readonly openRetriever: (
    name: RetrieverName,
    options?: Partial<Pick<BenchConfig, 'coldIndex' | 'salienceWeights' | 'embedder'>>,
  ) => Promise<Retriever>;
  readonly onStep: (done: number, total: number) => void;
  /** What this run had stored before it was interrupted; null in a new run. */
  readonly measured: Measured | null;
  /** Stores what has been measured so far. */
  readonly save: (measured: Measured) => Promise<void>;
}

export interface ServeContext extends MeasureContext {
  readonly runId: string;
  readonly arms: readonly Arm[];
  readonly keeper: MemoryKeeper;
}

/** A research question, with the arms, data and options that answer it. */
export interface Suite {
  readonly name: SuiteName;
  readonly question: string;
  /** Default arms, in the order of the tables. */
  readonly arms: readonly string[];
  /** Those of `arms` that also run with the other prompt template, plain or chat, if the model has a chat template. */
  readonly triesTemplate?: readonly string[];
  /** Generators of the suite's data sets. Default: the data sets of `--dataset`. */
  readonly data?: readonly DatasetGenerator[];
  readonly defaults?: Partial<Pick<BenchConfig, 'topK' | 'limit' | 'repeats'>>;
  /** Default size of a run on the shipped data. */
  readonly shipped?: Partial<Pick<BenchConfig, 'limit' | 'users'>>;
  /** KV cells per position of the window, for arms whose blocks share positions. Default: 1. */
  readonly cellsPerPosition?: number;
  readonly measure?: (context: ServeContext) => Promise<Measured>;
  readonly requires?: readonly CapabilityName[];
  /** The results are times: one process takes all turns, and no worker runs beside it. */
  readonly timesAreResults?: true;
  /** Also computes ln p of each arm's own answer, as a measure of fluency. */
  readonly scoresAnswers?: true;
}

const presets = benchConfigSchema.parse({});

/** Fills in the suite's defaults for options that the user set neither on the command line nor in `config`. */
export function suiteOptions(
  config: BenchConfig,
  { defaults = {}, shipped = {} }: Pick<Suite, 'defaults' | 'shipped'>,
): BenchConfig {
  const isGiven = (option: string): boolean =>
    config.given.includes(option) ||
    (['limit', 'users', 'topK', 'repeats'] as const).some((name) => name === option && config[name] !== presets[name]);
  // The default number of users fits the default number of questions only: both apply, or neither.
  const part = isGiven('dataset') || isGiven('limit') ? {} : shipped;
  const open = Object.entries({ ...part, ...defaults }).filter(([key]) => !isGiven(key));
  return { ...config, ...Object.fromEntries(open) };
}
