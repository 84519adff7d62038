import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../config/cache-folder.ts';
import { languageModelWithHash } from '../../../models/registry.ts';

/** An empty file for each model that went well, named by the hash of its bytes. */
const markOf = (sha256: string): string => join(cacheFolder(), 'tried-models', sha256);

/** True for a model that this machine has tried, and for one of the registry. @param sha256 of its file, in hex */
export function isKnownModel(sha256: string): boolean {
  return languageModelWithHash(sha256) !== undefined || existsSync(markOf(sha256));
}

/** Remembers that a trial went well. */
export function rememberModel(sha256: string): void {
  try {
    const mark = markOf(sha256);
    mkdirSync(join(mark, '..'), { recursive: true });
    writeFileSync(mark, '');
  } catch {
    // Without a cache that can be written every load of the file is tried first.
  }
}
