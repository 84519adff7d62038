import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../datasets', import.meta.url));
const suffix = '.jsonl';

/** The files of the data sets that ship, by name. */
export function shippedDatasets(): ReadonlyMap<string, string> {
  const files = readdirSync(folder).filter((file) => file.endsWith(suffix));
  return new Map(files.map((file) => [file.slice(0, -suffix.length), resolve(folder, file)]));
}
