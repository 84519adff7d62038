import { createHash } from 'node:crypto';
import { BenchError } from '../base/bench-error.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import type { Dataset, DatasetUser } from './dataset.ts';
import { type DatasetOptions, datasetSources } from './dataset-source.ts';
import { readDatasetSource } from './read-dataset.ts';

export type RunDatasets = ReturnType<typeof joinDatasets>;

interface PlacedDataset {
  readonly file: string;
  readonly dataset: Dataset;
}

/** The ids by which turns, sessions and KV are stored: each may occur in one data set only. */
const ids: Readonly<Record<string, (user: DatasetUser) => readonly string[]>> = {
  user: ({ userId }) => [userId],
  item: ({ items }) => items.map(({ itemId }) => itemId),
  memory: ({ memories }) => memories.map(({ memoryId }) => memoryId),
  conversation: ({ items }) => items.flatMap(({ conversation }) => conversation ?? []),
};

/** Throws the error of `refuse` for a key that two data sets share. */
function requireUnique(
  placed: readonly PlacedDataset[],
  keys: (dataset: Dataset) => readonly string[],
  refuse: (key: string, file: string, other: string) => BenchError,
): void {
  const files = new Map<string, string>();
  for (const { file, dataset } of placed) {
    for (const key of new Set(keys(dataset))) {
      const other = files.get(key);
      if (other !== undefined) throw refuse(key, file, other);
      files.set(key, file);
    }
  }
}

/** @throws BenchError `bad-option` if a data set is named twice, `bad-data` if two have an id in common */
export function joinDatasets(placed: readonly PlacedDataset[]) {
  requireUnique(
    placed,
    ({ sha256 }) => [sha256],
    (_, file, other) => {
      const message = other === file ? `${file} is named twice` : `${other} and ${file} are the same data set`;
      return new BenchError('bad-option', message, 'name each data set once');
    },
  );
  for (const [what, idsOfUser] of Object.entries(ids)) {
    requireUnique(
      placed,
      ({ users }) => users.flatMap(idsOfUser),
      (id, file, other) => {
        const message = `${other} and ${file} both have ${what} ${JSON.stringify(id)}`;
        return new BenchError('bad-data', message, 'give them different ids, or run them one at a time');
      },
    );
  }
  const parts = placed.map(({ dataset }) => dataset);
  const hashes = parts.map(({ sha256 }) => sha256);
  // Hash of the file; for several files, hash of their hashes in order.
  const sha256 = hashes.length === 1 ? hashes[0]! : createHash('sha256').update(hashes.join('\n')).digest('hex');
  return { name: parts.map(({ name }) => name).join('+'), sha256, parts };
}

/** Reads the data sets of a run and joins them. @throws BenchError as `datasetSources`, `readDatasetSource` and `joinDatasets` */
export async function readRunDatasets(options: DatasetOptions & Partial<Pick<BenchConfig, 'retriever'>>) {
  const placed: PlacedDataset[] = [];
  for (const source of datasetSources(options)) {
    placed.push({ file: source.place, dataset: await readDatasetSource(source, options.retriever === 'given') });
  }
  return joinDatasets(placed);
}
