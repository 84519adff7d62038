import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import type { OfferedFile } from './offered-file.ts';

/** Folders below folders that are looked into: enough for `org/repo/snapshots/revision/onnx`. */
const MOST_LEVELS = 6;
const MOST_FILES = 10_000;

/** A file of the disk under the place at which its source has it. */
export function offeredFile(file: string, path: string, bytes: number): OfferedFile {
  return { path, bytes, open: () => Promise.resolve(createReadStream(file)) };
}

/**
 * All files below a folder. Links are followed, as the folders of the hub's own tools are made of them.
 * @throws BenchError `bad-data` for a folder with too many files to be a model's
 */
export function filesOfFolder(folder: string): OfferedFile[] {
  const found: OfferedFile[] = [];
  const visit = (place: string, level: number): void => {
    for (const name of readdirSync(join(folder, place))) {
      const path = place === '' ? name : `${place}/${name}`;
      const stats = statSync(join(folder, path), { throwIfNoEntry: false });
      if (stats?.isDirectory() === true && level < MOST_LEVELS) visit(path, level + 1);
      if (stats?.isFile() === true) found.push(offeredFile(join(folder, path), path, stats.size));
      if (found.length > MOST_FILES) {
        throw new BenchError(
          'bad-data',
          `${folder}: more than ${MOST_FILES} files: not the folder of a model`,
          'name the folder that holds the model itself',
        );
      }
    }
  };
  visit('', 0);
  return found;
}
