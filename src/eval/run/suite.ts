import { type BenchConfig, benchConfigSchema, type ColdIndexName, type SuiteName } from '../../config/bench-config.ts';
import type { RetrieverName } from '../../config/retriever-names.ts';
import type { DatasetGenerator } from '../../data/generators/dataset-generator.ts';
import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import type { Measured } from '../../store/records/suite-measurements.ts';
import type { Retriever } from '../../retrieval/retriever.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { DrawnDataset } from './plan/plan-users.ts';

/** In place of what the run says: the index that `tiered` searches, the weights of `salience`, the folder of an embedder. */
export interface RetrieverOptions {
  readonly coldIndex?: ColdIndexName;
  readonly salienceWeights?: string;
  readonly embedder?: string;
}

export interface MeasureContext {
  readonly config: BenchConfig;
  readonly datasets: readonly DrawnDataset[];
  /** The folder of the run's report; files that stay there are part of it. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly engines: EngineOpener;
  /** Opens a retrieval strategy with an index of its own, as the run says but for the options; the caller closes it. */
  readonly openRetriever: (name: RetrieverName, options?: RetrieverOptions) => Promise<Retriever>;
  readonly onStep: (done: number, total: number) => void;
}

export interface ServeContext extends MeasureContext {
  readonly runId: string;
  readonly arms: readonly Arm[];
  readonly keeper: MemoryKeeper;
}

/** A question of the field, and the arms, data and options that answer it. */
export interface Suite {
  readonly name: SuiteName;
  readonly question: string;
  /** Default arms, in the order of the tables. */
  readonly arms: readonly string[];
  /** Of these arms, those that also run with the other prompt template, plain or chat, where the model has both. */
  readonly triesTemplate?: readonly string[];
  /** The suite's own data sets, asked together; without them it asks what `--dataset` names. */
  readonly data?: readonly DatasetGenerator[];
  readonly defaults?: Partial<Pick<BenchConfig, 'topK' | 'limit' | 'repeats'>>;
  /** The part of the data that ship which is asked by default. */
  readonly shipped?: Partial<Pick<BenchConfig, 'limit' | 'users'>>;
  /** Cells for each position of the window, where arms may share positions. Default 1. */
  readonly cellsPerPosition?: number;
  /** The metric that its verdicts are on, whatever its data name. */
  readonly primaryMetric?: string;
  readonly measure?: (context: ServeContext) => Promise<Measured>;
  readonly requires?: readonly CapabilityName[];
  /** Its answer is a time: one process takes all turns, while no other is at work. */
  readonly timesAreResults?: true;
  /** Scores each arm's own answer, for fluency. */
  readonly scoresAnswers?: true;
}

const presets = benchConfigSchema.parse({});

/** The options of a run: those of the suite where the user gave none, on the command line or in the object itself. */
export function suiteOptions(
  config: BenchConfig,
  { defaults = {}, shipped = {} }: Pick<Suite, 'defaults' | 'shipped'>,
): BenchConfig {
  const isGiven = (option: string): boolean =>
    config.given.includes(option) ||
    (['limit', 'users', 'topK', 'repeats'] as const).some((name) => name === option && config[name] !== presets[name]);
  // A number of users goes with the number of questions that are divided among them.
  const part = isGiven('dataset') || isGiven('limit') ? {} : shipped;
  const open = Object.entries({ ...part, ...defaults }).filter(([key]) => !isGiven(key));
  return { ...config, ...Object.fromEntries(open) };
}
