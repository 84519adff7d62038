import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { parseSalienceWeights } from '../../config/salience-weights.ts';
import { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../models/embedding/transformers-embedder.ts';
import type { CallOptions, EngineSession } from '../../engine/engine-session.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';
import { asksModel, type ReadPreRetrievalConfig } from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from '../../retrieval/open-retriever.ts';
import type { Retriever } from '../../retrieval/retriever.ts';
import { documentRule, type SalienceRule } from '../../retrieval/salience/salience-ranking.ts';
import { chooseVectorBackend } from '../../retrieval/vectors/vector-backend.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { PromptRules } from '../../systems/prompt/build-prompt.ts';
import type { SystemParts } from '../../systems/answer-turn.ts';
import { coresOfWorker } from './workers/number-of-workers.ts';
import { readPreRetrievalFile } from './plan/pre-retrieval-file.ts';
import type { Suite } from './suite.ts';

/** The two models and the vector index of a run, loaded. */
export class BenchParts implements AsyncDisposable {
  readonly engine: Engine;
  readonly embeddings: EmbeddingService;
  readonly backend: ReturnType<typeof chooseVectorBackend>;
  /** The way in which a strategy prepares questions. */
  readonly preRetrieval: ReadPreRetrievalConfig;
  /** Time that loading the language model took. */
  readonly modelLoadMs: number;

  private constructor(
    engine: Engine,
    modelLoadMs: number,
    embeddings: EmbeddingService,
    preRetrieval: ReadPreRetrievalConfig,
  ) {
    this.preRetrieval = preRetrieval;
    this.engine = engine;
    this.modelLoadMs = modelLoadMs;
    this.embeddings = embeddings;
    this.backend = chooseVectorBackend();
  }

  /**
   * Loads the models.
   * @throws BenchError `bad-model` where one of them cannot be used, `bad-option` for an unknown random one
   */
  static async open(
    engines: EngineOpener,
    config: BenchConfig,
    {
      arms,
      checkpointFolder,
      cellsPerPosition,
    }: Pick<Suite, 'cellsPerPosition'> & { readonly arms: readonly Arm[]; readonly checkpointFolder: string },
    options: CallOptions = {},
  ): Promise<BenchParts> {
    const start = performance.now();
    const preRetrieval = readPreRetrievalFile(config);
    const keepers = arms.filter(({ traits }) => traits.keepsSession).length;
    const cores = coresOfWorker(config);
    const engine = await engines.open(
      {
        model: config.model,
        checkpointFolder,
        // One for all arms that keep none, one for scoring, one for the self-test, one for the preparation of questions.
        sessions: keepers + 3 + Number(config.retriever === 'hinted' && asksModel(preRetrieval.config)),
        ...(cellsPerPosition === undefined ? {} : { cellsPerPosition }),
        ...(config.contextTokens === undefined ? {} : { contextTokens: config.contextTokens }),
        ...(config.threads === undefined ? {} : { threads: config.threads }),
        ...(cores === undefined ? {} : { cores }),
      },
      { signal: options.signal },
    );
    const modelLoadMs = performance.now() - start;
    const embeddings = openEmbeddings(config.embedder);
    await embeddings.info();
    return new BenchParts(engine, modelLoadMs, embeddings, preRetrieval);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
  }
}

/** The embedder of a folder, loaded at first use. */
export function openEmbeddings(folder: string): EmbeddingService {
  return new EmbeddingService(() => TransformersEmbedder.open(folder));
}

/** The settings by which every prompt of the run is built. */
export function promptRules({ reserve, historyTurns, ...config }: BenchConfig): Omit<PromptRules, 'windowTokens'> {
  const { placement, labels, template, systemPrompt, answerPrefix, generalAnswerPrefix: general } = config;
  const use = answerPrefix === 'none' || answerPrefix === 'item' ? answerPrefix : 'general';
  return {
    ...{ placement, labels, template, systemPrompt, answerPrefix: { general, use } },
    ...(reserve === undefined ? {} : { reserveTokens: reserve }),
    ...(historyTurns === undefined ? {} : { historyTurns }),
  };
}

/** True for a strategy that needs the language model: it counts tokens, or prepares questions. */
export function needsModel({ retriever }: Pick<BenchConfig, 'retriever'>, { config }: ReadPreRetrievalConfig): boolean {
  return retriever === 'salience' || (retriever === 'hinted' && asksModel(config));
}

/** The rule of strategy `salience`: that of the source document, but for what the options say. */
export function salienceRule({
  halfLife,
  salienceWeights,
}: Pick<BenchConfig, 'halfLife' | 'salienceWeights'>): SalienceRule {
  return {
    halfLifeDays: halfLife ?? documentRule.halfLifeDays,
    // Checked when the options were read.
    weights: salienceWeights === undefined ? documentRule.weights : parseSalienceWeights(salienceWeights)!,
  };
}

/**
 * The retrieval strategy of the run, empty.
 * @param parts the engine may be missing if no model is needed
 * @param runFolder the folder of the run's report
 */
export function openRunRetriever(
  parts: Pick<BenchParts, 'embeddings' | 'backend' | 'preRetrieval'> & { readonly engine: Engine | undefined },
  config: BenchConfig,
  runId: string,
  runFolder: string,
): Promise<Retriever> {
  const { embeddings, backend, engine, preRetrieval } = parts;
  const { retriever, topK, threshold, retrievalTokens } = config;
  return openRetriever(retriever, {
    embeddings,
    backend: backend.backend,
    topK,
    threshold,
    namespace: runId,
    folder: join(runFolder, 'retriever'),
    tiers: config,
    countTokens: async (texts) => {
      if (engine === undefined) throw new Error(`${retriever} counts tokens without a model`);
      return (await engine.tokenize(texts.map((text) => ({ text, as: 'text' })))).map((ids) => ids.length);
    },
    retrievalTokens,
    salience: salienceRule(config),
    preRetrieval,
    engine,
  });
}

/** The parts that all systems of a run share; what they say is written down by the runner. */
export function systemParts(
  { engine }: Pick<BenchParts, 'engine'>,
  session: EngineSession,
  config: BenchConfig,
  memories: MemoryKeeper,
): SystemParts {
  return {
    open: () => Promise.resolve({ engine, session }),
    memories,
    log: null,
    rules: promptRules(config),
    topK: config.topK,
    threshold: config.threshold,
    // Warnings stand in each turn's budget.
    warn: () => undefined,
  };
}
