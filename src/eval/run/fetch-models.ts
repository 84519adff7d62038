import { type BenchConfig, randomModelPrefix } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import type { DownloadOptions } from '../../config/hub/hub-file.ts';
import { askedOf } from '../../config/models/asked.ts';
import { entryOfFile } from '../../config/models/entry-of-file.ts';
import { presetModelName } from '../../config/models/preset-models.ts';
import { type Asked, type LanguageModelEntry, languageModelNamed, languageModels } from '../../config/models/registry.ts';
import { embedderFolderOf } from '../../embedding/embedder-folder.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';

/**
 * Turns the names of models into files of this machine, and fills in what the registry says of the language model: its
 * embedder, and how it is asked. An option that somebody gave is left as it is.
 * @throws BenchError `bad-model` where a file has other bytes than its entry; as `EngineOpener.fetch` and `embedderFolderOf`
 */
export async function withFetchedModels(
  config: BenchConfig,
  engines: EngineOpener,
  options: DownloadOptions,
): Promise<BenchConfig> {
  const file = await engines.fetch(config.model, options);
  const entry = await entryOf(config.model, file);
  requireEntry(config.model, entry);
  const asked = askedOf(entry, entry === undefined && (await hasChatTemplate(config.model, engines)));
  const embedder = entry === undefined || config.given.includes('embedder') ? config.embedder : entry.embedder;
  return { ...config, ...open(asked, config), embedder: await embedderFolderOf(embedder, options) };
}

/** Random weights are asked as the models that ship: no form makes them answer. */
async function entryOf(model: string, file: string | undefined): Promise<LanguageModelEntry | undefined> {
  if (model.startsWith(randomModelPrefix)) return languageModelNamed(presetModelName);
  return file === undefined ? undefined : await entryOfFile(file);
}

/** @throws BenchError `bad-model` where the file of a named model has other bytes than the registry states */
function requireEntry(model: string, found: LanguageModelEntry | undefined): void {
  const named = languageModels.find(({ source }) => source === model);
  if (named === undefined || found === named) return;
  throw new BenchError(
    'bad-model',
    `${named.name}: the file in the cache has other bytes than the registry states (sha-256 ${named.sha256})`,
    `delete it with dki-bench models remove ${named.name}, and fetch or import it again`,
  );
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

/** What nobody said. */
function open(asked: Asked, { given }: BenchConfig): Partial<Asked> {
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !given.includes(key)));
}
