import { type BenchConfig, randomModelPrefix } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import type { DownloadOptions } from '../../../models/hub/fetch-hub-file.ts';
import { defaultPrompt, fallbackAnswerPrefix } from '../../../models/prompt-defaults.ts';
import { fetchModel } from '../../../models/fetch-model.ts';
import { cacheState } from '../../../models/model-files.ts';
import { bestEmbedderName, presetModelName, presetModels } from '../../../models/preset-models.ts';
import {
  embedderNamed,
  type LanguageModelEntry,
  languageModelNamed,
  languageModelOfFile,
  languageModels,
} from '../../../models/registry.ts';
import { localEmbedder } from '../../../models/embedding/embedder-path.ts';
import type { EngineOpener } from '../../../engine/engine-adapter.ts';

/** Names of models as local files, with the registry's defaults where the user gave none. @throws BenchError of fetching */
export async function resolveModelOptions(config: BenchConfig, engines: EngineOpener, options: DownloadOptions = {}) {
  const { model, given } = config;
  const named = languageModels.find(({ source }) => source === model);
  if (named !== undefined) await fetchModel(named, options);
  await engines.fetch(model, options);
  // Random weights are prompted as the models that ship: no form makes them answer.
  const isRandom = model.startsWith(randomModelPrefix);
  const entry = isRandom ? languageModelNamed(presetModelName) : await registryEntry(model, engines);
  const defaults = defaultPrompt(entry, entry === undefined && (await hasChatTemplate(model, engines)));
  const open = Object.fromEntries(Object.entries(defaults).filter(([key]) => !given.includes(key)));
  const embedder = given.includes('embedder') ? config.embedder : (entry?.embedder ?? bestPresentEmbedder());
  const filled = { ...config, ...open, embedder: await localEmbedder(embedder, options) };
  // A resumed run has the one that it began with.
  if (given.includes('generalAnswerPrefix')) return filled;
  return { ...filled, generalAnswerPrefix: fallbackAnswerPrefix(filled.answerPrefix, defaults) };
}

/** The registry's entry of a model, found by the bytes of its file; undefined if it has none. */
/** The embedder of an untried model: MiniLM, made for natural questions, if the cache has it, else the one that ships. */
function bestPresentEmbedder(): string {
  return cacheState(embedderNamed(bestEmbedderName)!) === 'whole' ? bestEmbedderName : presetModels.embedder;
}

export async function registryEntry(model: string, engines: EngineOpener): Promise<LanguageModelEntry | undefined> {
  const file = await engines.fetch(model);
  return file === undefined ? undefined : await languageModelOfFile(file);
}

/** False for a model that cannot be read: opening it then says why. */
async function hasChatTemplate(model: string, engines: EngineOpener): Promise<boolean> {
  try {
    return (await engines.inspect(model)).model.chatTemplate !== null;
  } catch (error) {
    if (error instanceof BenchError) return false;
    throw error;
  }
}
