import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { parseSalienceWeights } from '../../config/salience-weights.ts';
import { countTokens, type Engine } from '../../engine/engine.ts';
import {
  usesLanguageModel,
  type ReadPreRetrievalConfig,
} from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever, type RetrieverDefinition } from '../../retrieval/open-retriever.ts';
import type { Retriever } from '../../retrieval/retriever.ts';
import { documentRule, type SalienceRule } from '../../retrieval/salience/salience-ranking.ts';
import type { LoadedModels } from './loaded-models.ts';

/** True for a retriever that needs the language model, to count tokens or to prepare questions. */
export function retrieverNeedsModel(
  { retriever }: Pick<BenchConfig, 'retriever'>,
  { config }: ReadPreRetrievalConfig,
): boolean {
  return retriever === 'salience' || (retriever === 'hinted' && usesLanguageModel(config));
}

export function salienceRule(config: Pick<BenchConfig, 'halfLife' | 'salienceWeights'>): SalienceRule {
  const { halfLife, salienceWeights } = config;
  const { halfLifeDays, weights } = documentRule;
  // The option was validated when it was read.
  const given = salienceWeights === undefined ? weights : parseSalienceWeights(salienceWeights)!;
  return { halfLifeDays: halfLife ?? halfLifeDays, weights: given };
}

/** Opens a run's retriever, without memories. @param parts `engine` may be undefined if no model is needed */
export async function openRunRetriever(
  parts: Pick<LoadedModels, 'embeddings' | 'backend' | 'preRetrieval'> & {
    readonly engine: Engine | undefined;
    readonly ownRetriever?: RetrieverDefinition | undefined;
  },
  config: BenchConfig,
  runId: string,
  runFolder: string,
): Promise<Retriever> {
  const { embeddings, backend, engine, preRetrieval, ownRetriever } = parts;
  const { retriever, topK, threshold, retrievalTokens } = config;
  const folder = join(runFolder, 'retriever');
  if (ownRetriever !== undefined) return await ownRetriever.open({ embeddings, topK, threshold, folder });
  return await openRetriever(retriever, {
    embeddings,
    backend: backend.backend,
    topK,
    threshold,
    namespace: runId,
    folder,
    tiers: config,
    countTokens: async (texts) => {
      if (engine === undefined) throw new Error(`${retriever} counts tokens without a model`);
      return await countTokens(engine, texts);
    },
    retrievalTokens,
    salience: salienceRule(config),
    preRetrieval,
    engine,
  });
}
