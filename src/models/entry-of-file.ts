import { statSync } from 'node:fs';
import { checksumOfFile } from './hub/file-checksum.ts';
import { type LanguageModelEntry, languageModels, languageModelWithHash } from './registry.ts';

/**
 * Finds the entry of a file by its bytes; undefined for a file that is no entry's, and where there is no file. Only a file
 * that is as long as that of an entry is read.
 */
export async function entryOfFile(path: string): Promise<LanguageModelEntry | undefined> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (!languageModels.some(({ bytes }) => bytes === size)) return undefined;
  // Whoever opens what cannot be read says so.
  const hash = await checksumOfFile(path, 'sha-256').catch(() => undefined);
  return hash === undefined ? undefined : languageModelWithHash(hash);
}
