import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../models/embedding/transformers-embedder.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import {
  readPreRetrievalConfig,
  type ReadPreRetrievalConfig,
  usesLanguageModel,
} from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { chooseVectorBackend } from '../../retrieval/vectors/choose-vector-backend.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { BenchHooks } from './bench-hooks.ts';
import type { Suite } from './suite.ts';
import { parse as parseYaml } from 'yaml';
import { BenchError } from '../../base/bench-error.ts';
import { readToEnd } from '../../base/read-remove-rename-files.ts';

export type LoadedModels = Awaited<ReturnType<typeof loadModels>>;

/** Loads the models of a run. @throws BenchError `bad-model`, and `bad-option` for an unknown random model */
export async function loadModels(
  engines: EngineOpener,
  config: BenchConfig,
  suite: Pick<Suite, 'cellsPerPosition'> & { readonly arms: readonly Arm[]; readonly checkpointFolder: string },
  { signal, retriever: ownRetriever }: Pick<BenchHooks, 'signal' | 'retriever'> = {},
) {
  const start = performance.now();
  const { model, contextTokens, threads, retriever, workers } = config;
  const { arms, checkpointFolder, cellsPerPosition } = suite;
  const preRetrieval = readPreRetrievalConfigFile(config);
  const own = arms.filter(({ traits }) => traits.keepsSession).length;
  // Further sessions: one that all other arms share, one for scoring, one for self-tests, one to prepare questions.
  const sessions = own + 3 + Number(retriever === 'hinted' && usesLanguageModel(preRetrieval.config));
  // One process may use all.
  const cores = typeof workers === 'number' ? Math.max(1, Math.floor(availableParallelism() / workers)) : undefined;
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

/** Reads the configuration for preparing questions: the file of `--pre-retrieval`, or defaults. @throws BenchError `bad-option` */
export function readPreRetrievalConfigFile(config: Pick<BenchConfig, 'preRetrieval'>): ReadPreRetrievalConfig {
  const { preRetrieval: path } = config;
  if (path === undefined) return readPreRetrievalConfig({}, 'defaults');
  let content: unknown;
  try {
    const text = readToEnd(path).toString();
    const isYaml = ['.yaml', '.yml'].includes(extname(path).toLowerCase());
    // Only errors: warnings would go to standard error, and the schema refuses bad values anyway.
    content = isYaml ? parseYaml(text, { logLevel: 'error' }) : JSON.parse(text);
  } catch (error) {
    // The YAML parser quotes the place on further lines.
    const [reason = ''] = (error as Error).message.split('\n');
    const message = `--pre-retrieval ${path} cannot be read: ${reason.replace(/:$/, '')}`;
    const hint =
      'it holds one object, such as {"route_strategy": "classifier"}; YAML if its name ends in .yaml or .yml';
    throw new BenchError('bad-option', message, hint, error);
  }
  return readPreRetrievalConfig(content, path);
}
