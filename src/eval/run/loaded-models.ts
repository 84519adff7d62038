import type { BenchConfig } from '../../config/bench-config.ts';
import { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../models/embedding/transformers-embedder.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import { usesLanguageModel } from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { chooseVectorBackend } from '../../retrieval/vectors/choose-vector-backend.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import { coresOfWorker } from './workers/number-of-workers.ts';
import { readPreRetrievalConfigFile } from './plan/read-pre-retrieval-config-file.ts';
import type { BenchHooks } from './bench-hooks.ts';
import type { Suite } from './suite.ts';

export type LoadedModels = Awaited<ReturnType<typeof loadModels>>;

/** Loads the models of a run. @throws BenchError `bad-model`, and `bad-option` for an unknown random model */
export async function loadModels(
  engines: EngineOpener,
  config: BenchConfig,
  suite: Pick<Suite, 'cellsPerPosition'> & { readonly arms: readonly Arm[]; readonly checkpointFolder: string },
  { signal, retriever: ownRetriever }: Pick<BenchHooks, 'signal' | 'retriever'> = {},
) {
  const start = performance.now();
  const { model, contextTokens, threads, retriever } = config;
  const { arms, checkpointFolder, cellsPerPosition } = suite;
  const preRetrieval = readPreRetrievalConfigFile(config);
  const own = arms.filter(({ traits }) => traits.keepsSession).length;
  // Further sessions: one that all other arms share, one for scoring, one for self-tests, one to prepare questions.
  const sessions = own + 3 + Number(retriever === 'hinted' && usesLanguageModel(preRetrieval.config));
  const cores = coresOfWorker(config);
  const request = { model, checkpointFolder, sessions, cellsPerPosition, contextTokens, threads, cores };
  const engine = await engines.open(request, { signal });
  const modelLoadMs = performance.now() - start;
  const embeddings = openEmbeddings(config.embedder);
  await embeddings.info();
  return { engine, embeddings, backend: chooseVectorBackend(), preRetrieval, ownRetriever, modelLoadMs };
}

/** The embedder of a folder, loaded at first use. */
export function openEmbeddings(folder: string): EmbeddingService {
  return new EmbeddingService(() => TransformersEmbedder.open(folder));
}
