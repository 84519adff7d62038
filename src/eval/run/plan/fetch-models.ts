import { type BenchConfig, randomModelPrefix } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import type { DownloadOptions } from '../../../models/hub/hub-file.ts';
import { defaultPrompt, fallbackAnswerPrefix } from '../../../models/prompt-defaults.ts';
import { fetchModel } from '../../../models/fetch-model.ts';
import { presetModelName } from '../../../models/preset-models.ts';
import {
  type PromptDefaults,
  type LanguageModelEntry,
  languageModelNamed,
  languageModelOfFile,
  languageModels,
} from '../../../models/registry.ts';
import { localEmbedder } from '../../../models/embedding/local-embedder.ts';
import type { EngineOpener } from '../../../engine/engine-request.ts';

/**
 * Turns the names of models into files of this machine, and fills in what the registry says of the language model: its
 * embedder, and how it is asked. An option that somebody gave is left as it is.
 * @throws BenchError as `fetchModel`, `EngineOpener.fetch` and `localEmbedder`
 */
export async function withFetchedModels(
  config: BenchConfig,
  engines: EngineOpener,
  options: DownloadOptions = {},
): Promise<BenchConfig> {
  const named = languageModels.find(({ source }) => source === config.model);
  if (named !== undefined) await fetchModel(named, options);
  await engines.fetch(config.model, options);
  const entry = await askedAs(config.model, engines);
  const asked = defaultPrompt(entry, entry === undefined && (await hasChatTemplate(config.model, engines)));
  const embedder = entry === undefined || config.given.includes('embedder') ? config.embedder : entry.embedder;
  const filled = { ...config, ...open(asked, config), embedder: await localEmbedder(embedder, options) };
  const generalAnswerPrefix = fallbackAnswerPrefix(filled.answerPrefix, asked);
  // A run that goes on has the one with which it began.
  return config.given.includes('generalAnswerPrefix') ? filled : { ...filled, generalAnswerPrefix };
}

/** The registry's entry of a model, found by the bytes of its file; undefined for one without. */
export async function registryEntryOf(model: string, engines: EngineOpener): Promise<LanguageModelEntry | undefined> {
  const file = await engines.fetch(model);
  return file === undefined ? undefined : await languageModelOfFile(file);
}

/** Random weights are asked as the models that ship: no form makes them answer. */
async function askedAs(model: string, engines: EngineOpener): Promise<LanguageModelEntry | undefined> {
  return model.startsWith(randomModelPrefix) ? languageModelNamed(presetModelName) : registryEntryOf(model, engines);
}

/** Whoever opens a model that cannot be read says why. */
async function hasChatTemplate(model: string, engines: EngineOpener): Promise<boolean> {
  try {
    return (await engines.inspect(model)).model.chatTemplate !== null;
  } catch (error) {
    if (error instanceof BenchError) return false;
    throw error;
  }
}

/** Options that nobody gave. */
function open(asked: PromptDefaults, { given }: BenchConfig): Partial<PromptDefaults> {
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !given.includes(key)));
}
