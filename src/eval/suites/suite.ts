import type { BenchConfig, ColdIndexName, RetrieverName, SuiteName } from '../../config/bench-config.ts';
import type { Retriever } from '../../memory/retriever.ts';
import type { DatasetUser } from '../dataset/dataset.ts';
import type { Measured } from '../results.ts';
import type { DatasetGenerator } from '../synthesis/dataset-generator.ts';

/** What a measurement beside turns may use. */
export interface MeasureRoom {
  readonly config: BenchConfig;
  /** The users of the run, with their memories. */
  readonly users: readonly DatasetUser[];
  /** The folder of the run's report; what is written there and stays is part of it. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Opens a strategy of recall in a place of its own, searched as the run says or by `coldIndex`; who opens it closes it. */
  readonly openRetriever: (name: RetrieverName, coldIndex?: ColdIndexName) => Promise<Retriever>;
}

/** A question of the paper, and how the bench answers it. */
export interface Suite {
  readonly name: SuiteName;
  /** In one line, for help and tables. */
  readonly question: string;
  /** The arms that run where none are named, in the order of the tables. */
  readonly arms: readonly string[];
  /** Of these arms, those that try the form of prompts which the run has not, plain or chat, where the model has both. */
  readonly triesTemplate?: readonly string[];
  /** Its own data sets, asked together; without them the suite asks what `--dataset` holds. */
  readonly data?: readonly DatasetGenerator[];
  /** Options that it sets where the user does not. */
  readonly defaults?: Partial<Pick<BenchConfig, 'topK' | 'limit' | 'repeats'>>;
  /** How many questions of the data that ship it asks, where the user names neither data nor a limit. */
  readonly shippedLimit?: number;
  /** Cells for each position of the window, where arms may share positions. Default 1. */
  readonly cellsPerPosition?: number;
  /** Measures what no question shows. */
  readonly measure?: (room: MeasureRoom) => Promise<Measured>;
  /** Scores each answer where it was given, for fluency. */
  readonly scoresAnswers?: true;
}
