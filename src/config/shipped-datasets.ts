import { readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../datasets', import.meta.url));
const suffix = '.jsonl';

/** The files of the data sets that ship, by name. */
export function shippedDatasets(): ReadonlyMap<string, string> {
  const files = readdirSync(folder).filter((file) => file.endsWith(suffix));
  return new Map(files.map((file) => [file.slice(0, -suffix.length), resolve(folder, file)]));
}

/** The name of the shipped data set that a file is, wherever it lies: another clone has its own. @returns undefined for another file */
export function shippedDatasetName(file: string): string | undefined {
  const name = basename(file, suffix);
  return file.endsWith(suffix) && shippedDatasets().has(name) ? name : undefined;
}
