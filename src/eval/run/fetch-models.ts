import type { BenchConfig } from '../../config/bench-config.ts';
import type { DownloadOptions } from '../../config/hub/hub-file.ts';
import { hubPrefix } from '../../config/hub/hub-reference.ts';
import { embedderFolderOf } from '../../embedding/embedder-folder.ts';
import { modelFileOf } from '../../llm/model-file.ts';

/**
 * The configuration with the models of the hub replaced by their files on this machine, fetched where they are not there.
 * @throws BenchError as `modelFileOf` and `embedderFolderOf`
 */
export async function withFetchedModels(config: BenchConfig, options: DownloadOptions): Promise<BenchConfig> {
  const { model, embedder } = config;
  return {
    ...config,
    model: model.startsWith(hubPrefix) ? await modelFileOf(model, options) : model,
    embedder: await embedderFolderOf(embedder, options),
  };
}
