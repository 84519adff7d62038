import { join } from 'node:path';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { cacheFolder } from '../../config/cache-folder.ts';
import type { ModelEntry } from '../model-registry.ts';

/** A model that a user imported and the registry does not know. */
export interface ImportedModel {
  readonly kind: ModelEntry['kind'];
  /** The name of its file without the ending, or of its folder. */
  readonly name: string;
  readonly path: string;
}

export const GGUF = /\.gguf$/i;

const folder = (): string => join(cacheFolder(), 'imported');

/** Path of an imported model: a GGUF file, or an embedder's folder. */
export function importedPath(kind: ImportedModel['kind'], name: string): string {
  return join(folder(), kind === 'embedder' ? name : `${name}.gguf`);
}

export function importedModels(): ImportedModel[] {
  if (!existsSync(folder())) return [];
  return readdirSync(folder())
    .sort()
    .flatMap((file): ImportedModel[] => {
      const path = join(folder(), file);
      if (statSync(path).isDirectory()) return [{ kind: 'embedder', name: file, path }];
      return GGUF.test(file) ? [{ kind: 'language-model', name: file.replace(GGUF, ''), path }] : [];
    });
}
