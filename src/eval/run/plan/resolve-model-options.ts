import { type BenchConfig, randomModelPrefix } from '../../../config/bench-config.ts';
import { BenchError, catchBenchError } from '../../../base/bench-error.ts';
import {
  defaultPrompt,
  embedderNamed,
  fallbackAnswerPrefix,
  type LanguageModelEntry,
  languageModelNamed,
  languageModelOfFile,
  languageModels,
} from '../../../models/model-registry.ts';
import { fetchRegisteredModel } from '../../../models/fetch-registered-model.ts';
import { cacheState } from '../../../models/model-file-cache.ts';
import { bestEmbedderName, presetModelName, presetModels } from '../../../models/default-models.ts';
import { fetchEmbedder } from '../../../models/embedding/fetch-embedder.ts';
import type { EngineOpener } from '../../../engine/engine-adapter.ts';
import type { DownloadOptions } from '../../../models/hub/download-file.ts';

/** Replaces model names by local files, which it downloads, and fills in prompt options. @throws BenchError */
export async function resolveModelOptions(config: BenchConfig, engines: EngineOpener, options: DownloadOptions = {}) {
  const { model, given } = config;
  const named = languageModels.find(({ source }) => source === model);
  if (named !== undefined) await fetchRegisteredModel(named, options);
  await engines.fetch(model, options);
  // Random weights get the prompt of the bundled model: no prompt would make them answer.
  const isRandom = model.startsWith(randomModelPrefix);
  const entry = isRandom ? languageModelNamed(presetModelName) : await registryEntry(model, engines);
  const defaults = defaultPrompt(entry, entry === undefined && (await hasChatTemplate(model, engines)));
  const open = Object.fromEntries(Object.entries(defaults).filter(([key]) => !given.includes(key)));
  const embedder = given.includes('embedder') ? config.embedder : (entry?.embedder ?? bestPresentEmbedder());
  const filled = { ...config, ...open, embedder: await fetchEmbedder(embedder, options) };
  // A resumed run keeps its general answer prefix.
  if (given.includes('generalAnswerPrefix')) return filled;
  return { ...filled, generalAnswerPrefix: fallbackAnswerPrefix(filled.answerPrefix, defaults) };
}

/** Embedder for a model that is not in the registry: MiniLM if it is already downloaded, else the bundled one. */
function bestPresentEmbedder(): string {
  return cacheState(embedderNamed(bestEmbedderName)!) === 'whole' ? bestEmbedderName : presetModels.embedder;
}

/** The registry's entry of a model, found by the hash of its file; undefined if there is none. */
export async function registryEntry(model: string, engines: EngineOpener): Promise<LanguageModelEntry | undefined> {
  const file = await engines.fetch(model);
  return file === undefined ? undefined : await languageModelOfFile(file);
}

/** False for a model that cannot be read: opening it then says why. */
async function hasChatTemplate(model: string, engines: EngineOpener): Promise<boolean> {
  const inspection = await catchBenchError(engines.inspect(model));
  return !(inspection instanceof BenchError) && inspection.model.chatTemplate !== null;
}
