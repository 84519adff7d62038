import type { BenchConfig } from '../../config/bench-config.ts';
import type { DownloadOptions } from '../../config/hub/hub-file.ts';
import { embedderFolderOf } from '../../embedding/embedder-folder.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';

/**
 * Fetches models that are named by an address of a hub, and gives the configuration with the embedder's folder on this
 * machine.
 * @throws BenchError as `EngineOpener.fetch` and `embedderFolderOf`
 */
export async function withFetchedModels(
  config: BenchConfig,
  engines: EngineOpener,
  options: DownloadOptions,
): Promise<BenchConfig> {
  await engines.fetch(config.model, options);
  return { ...config, embedder: await embedderFolderOf(config.embedder, options) };
}
