import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isArmName } from '../../config/arm-name.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import type { BenchDatabase } from '../../db/database.ts';
import { EmbeddingService } from '../../embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../embedding/transformers-embedder.ts';
import { StateStore } from '../../kv/state-store.ts';
import { LanguageModel } from '../../llm/language-model.ts';
import { modelPathOf } from '../../llm/random-model/random-model.ts';
import type { Retriever } from '../../memory/retriever.ts';
import {
  asksModel,
  type ReadPreRetrievalConfig,
} from '../../memory/strategies/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from '../../memory/strategies/open-retriever.ts';
import { chooseVectorBackend } from '../../memory/vector-backend.ts';
import { type ConversationLog, DatabaseConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { PromptRules } from '../../systems/prompt/build-prompt.ts';
import type { SystemParts } from '../../systems/system-parts.ts';
import type { DatasetUser } from '../dataset/dataset.ts';
import type { Suite } from '../suites/suite.ts';
import type { Arm, ArmStore } from './arms.ts';
import { ItemStage } from './item-stage.ts';
import { readPreRetrievalFile } from './pre-retrieval-file.ts';
import { SequencePieces } from './sequence-pieces.ts';
import type { RunBench } from './user-run.ts';

/** The heavy parts of a run: the two models and the index. */
export class BenchParts implements AsyncDisposable {
  readonly model: LanguageModel;
  readonly embeddings: EmbeddingService;
  readonly backend: ReturnType<typeof chooseVectorBackend>;
  /** How a strategy that prepares questions does it. */
  readonly preRetrieval: ReadPreRetrievalConfig;
  /** What loading the language model took. */
  readonly modelLoadMs: number;

  private constructor(
    model: LanguageModel,
    modelLoadMs: number,
    embeddings: EmbeddingService,
    preRetrieval: ReadPreRetrievalConfig,
  ) {
    this.preRetrieval = preRetrieval;
    this.model = model;
    this.modelLoadMs = modelLoadMs;
    this.embeddings = embeddings;
    this.backend = chooseVectorBackend();
  }

  /** @throws BenchError `bad-model` where one of the models cannot be used, `bad-option` for an unknown random one */
  static async open(
    config: BenchConfig,
    { cellsPerPosition }: Pick<Suite, 'cellsPerPosition'>,
    arms: readonly Arm[],
  ): Promise<BenchParts> {
    const start = performance.now();
    const preRetrieval = readPreRetrievalFile(config);
    const modelPath = await modelPathOf(config.model);
    const model = await LanguageModel.load({
      modelPath,
      // One for every arm, one for scoring, one for the self-test, one for the preparation of questions.
      sequences: arms.length + 2 + Number(config.retriever === 'hinted' && asksModel(preRetrieval.config)),
      ...(cellsPerPosition === undefined ? {} : { cellsPerPosition }),
      ...(config.contextTokens === undefined ? {} : { contextTokens: config.contextTokens }),
      ...(config.threads === undefined ? {} : { threads: config.threads }),
    });
    const modelLoadMs = performance.now() - start;
    const embeddings = new EmbeddingService(() => TransformersEmbedder.open(config.embedder));
    await embeddings.info();
    return new BenchParts(model, modelLoadMs, embeddings, preRetrieval);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.model.dispose();
  }
}

/** How every prompt of the run is made. */
export function promptRules(config: BenchConfig): Omit<PromptRules, 'windowTokens'> {
  const { placement, labels, template, reserve } = config;
  return { placement, labels, template, ...(reserve === undefined ? {} : { reserveTokens: reserve }) };
}

/** Where the K/V of a run lies: a folder that was named, shared on purpose, or one of the run's own that goes with it. */
export class StoreFolder implements Disposable {
  readonly shared: boolean;
  readonly #path: string;
  readonly #maxBytes: number;

  /** @param runFolder the folder of the run's report; what a killed process left there is deleted */
  constructor(config: BenchConfig, runFolder: string) {
    this.shared = config.kvStore !== undefined;
    this.#path = config.kvStore ?? join(runFolder, 'kv');
    this.#maxBytes = config.kvBytes;
    this[Symbol.dispose]();
  }

  /** A store for one arm: arms never find each other's states. */
  open(arm: string): ArmStore {
    return {
      store: new StateStore(join(this.#path, arm), this.#maxBytes),
      diskTiming: this.shared ? 'at-once' : 'when-evicted',
    };
  }

  /** Deletes what any arm keeps of a memory of the user, before it returns; gives the number of entries. */
  forgetMemory(userId: string, memoryId: string): number {
    if (!existsSync(this.#path)) return 0;
    return readdirSync(this.#path)
      .filter(isArmName)
      .map((arm) => this.open(arm).store.forgetMemory(userId, memoryId))
      .reduce((sum, entries) => sum + entries, 0);
  }

  [Symbol.dispose](): void {
    if (!this.shared) rmSync(this.#path, { recursive: true, force: true });
  }
}

/** The strategy of the run, empty. @param runFolder the folder of the run's report */
export function openRunRetriever(
  parts: BenchParts,
  config: BenchConfig,
  runId: string,
  runFolder: string,
): Promise<Retriever> {
  const { retriever, topK, threshold } = config;
  return openRetriever(retriever, {
    embeddings: parts.embeddings,
    backend: parts.backend.backend,
    topK,
    threshold,
    namespace: runId,
    folder: join(runFolder, 'retriever'),
    tiers: config,
    countTokens: (text) => parts.model.tokenizeText(text).length,
    recallTokens: config.recallTokens,
    preRetrieval: parts.preRetrieval,
    model: parts.model,
  });
}

/** What systems of one configuration share. */
export function systemParts(
  { model }: BenchParts,
  config: BenchConfig,
  memories: MemoryKeeper,
  log: ConversationLog,
): SystemParts {
  return {
    model: () => Promise.resolve(model),
    memories,
    log,
    rules: promptRules(config),
    topK: config.topK,
    threshold: config.threshold,
    // Warnings stand in each turn's budget.
    warn: () => undefined,
  };
}

/** Opens every arm on the same parts, so that nothing but recall and hand-over differs. */
export function openBench(
  parts: BenchParts,
  retriever: Retriever,
  stores: StoreFolder,
  setup: {
    readonly config: BenchConfig;
    readonly suite: Suite;
    readonly runId: string;
    readonly users: readonly DatasetUser[];
    readonly arms: readonly Arm[];
    readonly database: BenchDatabase;
  },
): RunBench {
  const { config, runId, database, arms } = setup;
  const keeper = new MemoryKeeper(retriever, parts.embeddings, database, runId);
  const stage = new ItemStage();
  const shared = systemParts(parts, config, keeper, stage);
  return {
    runId,
    suite: setup.suite,
    users: setup.users,
    mixesLanguages: new Set(setup.users.map(({ speech }) => speech.language)).size > 1,
    model: parts.model,
    scoring: parts.model.openSequence(),
    embeddings: parts.embeddings,
    database,
    log: new DatabaseConversationLog(database, runId),
    pieces: new SequencePieces(parts.model, database),
    keeper,
    stage,
    arms: arms.map((arm) => ({ arm, system: arm.open(shared, stage, () => stores.open(arm.name)) })),
    settings: {
      seed: config.seed,
      repeats: config.repeats,
      topK: config.topK,
      threshold: config.threshold,
      scoresAnswers: setup.suite.scoresAnswers ?? false,
    },
    sharesStore: stores.shared,
  };
}
