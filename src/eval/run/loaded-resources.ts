import { join } from 'node:path';
import { controlCharacters } from '../../base/control-characters.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import { parseSalienceWeights } from '../../config/salience-weights.ts';
import { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../models/embedding/transformers-embedder.ts';
import type { CallOptions, EngineSession } from '../../engine/engine-session.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import { asksModel, type ReadPreRetrievalConfig } from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from '../../retrieval/open-retriever.ts';
import type { Retriever } from '../../retrieval/retriever.ts';
import { documentRule, type SalienceRule } from '../../retrieval/salience/salience-ranking.ts';
import { chooseVectorBackend } from '../../retrieval/vectors/choose-vector-backend.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { PromptRules } from '../../systems/prompt/build-prompt.ts';
import type { SystemParts } from '../../systems/answer-turn.ts';
import { coresOfWorker } from './workers/number-of-workers.ts';
import { readPreRetrievalFile } from './plan/read-pre-retrieval-config.ts';
import type { Suite } from './suite.ts';

export class BenchParts implements AsyncDisposable {
  readonly engine: Engine;
  readonly embeddings: EmbeddingService;
  readonly backend = chooseVectorBackend();
  readonly preRetrieval: ReadPreRetrievalConfig;
  readonly modelLoadMs: number;

  private constructor(engine: Engine, config: BenchConfig, preRetrieval: ReadPreRetrievalConfig, modelLoadMs: number) {
    this.engine = engine;
    this.embeddings = openEmbeddings(config.embedder);
    this.preRetrieval = preRetrieval;
    this.modelLoadMs = modelLoadMs;
  }

  /** Loads the models. @throws BenchError `bad-model`, and `bad-option` for an unknown random one */
  static async open(
    engines: EngineOpener,
    config: BenchConfig,
    suite: Pick<Suite, 'cellsPerPosition'> & { readonly arms: readonly Arm[]; readonly checkpointFolder: string },
    { signal }: CallOptions = {},
  ): Promise<BenchParts> {
    const start = performance.now();
    const { model, contextTokens, threads, retriever } = config;
    const { arms, checkpointFolder, cellsPerPosition } = suite;
    const preRetrieval = readPreRetrievalFile(config);
    const own = arms.filter(({ traits }) => traits.keepsSession).length;
    // One shared by all other arms, one for scoring, one for the self-test, one for the preparation of questions.
    const sessions = own + 3 + Number(retriever === 'hinted' && asksModel(preRetrieval.config));
    const cores = coresOfWorker(config);
    const optional = Object.entries({ cellsPerPosition, contextTokens, threads, cores });
    const given = Object.fromEntries(optional.filter(([, value]) => value !== undefined));
    const engine = await engines.open({ model, checkpointFolder, sessions, ...given }, { signal });
    const parts = new BenchParts(engine, config, preRetrieval, performance.now() - start);
    await parts.embeddings.info();
    return parts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
  }
}

export function openRuns({ db, databaseEcho }: Pick<BenchConfig, 'db' | 'databaseEcho'>): BenchDatabase {
  // It holds texts of users, on lines of its own.
  const echo = (sql: string) => void process.stderr.write(`${sql.replaceAll(controlCharacters, ' ')}\n`);
  return openDatabase(databaseEcho ? { path: db, echo } : { path: db });
}

/** The embedder of a folder, loaded at first use. */
export function openEmbeddings(folder: string): EmbeddingService {
  return new EmbeddingService(() => TransformersEmbedder.open(folder));
}

export function promptRules(config: BenchConfig): Omit<PromptRules, 'windowTokens'> {
  const { placement, labels, template, systemPrompt, answerPrefix, reserve, historyTurns } = config;
  const use = answerPrefix === 'none' || answerPrefix === 'item' ? answerPrefix : 'general';
  return {
    placement,
    labels,
    template,
    systemPrompt,
    answerPrefix: { general: config.generalAnswerPrefix, use },
    ...(reserve === undefined ? {} : { reserveTokens: reserve }),
    ...(historyTurns === undefined ? {} : { historyTurns }),
  };
}

/** True for a strategy that needs the language model: it counts tokens, or prepares questions. */
export function needsModel({ retriever }: Pick<BenchConfig, 'retriever'>, { config }: ReadPreRetrievalConfig): boolean {
  return retriever === 'salience' || (retriever === 'hinted' && asksModel(config));
}

type SalienceOptions = Pick<BenchConfig, 'halfLife' | 'salienceWeights'>;

export function salienceRule({ halfLife, salienceWeights }: SalienceOptions): SalienceRule {
  const { halfLifeDays, weights } = documentRule;
  // Checked when the options were read.
  const given = salienceWeights === undefined ? weights : parseSalienceWeights(salienceWeights)!;
  return { halfLifeDays: halfLife ?? halfLifeDays, weights: given };
}

/** The retrieval strategy of the run, empty. @param parts without an engine if no model is needed */
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
