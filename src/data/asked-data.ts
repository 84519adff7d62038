import { createHash } from 'node:crypto';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import type { Dataset, DatasetUser } from './dataset.ts';
import { type DatasetOptions, datasetSources } from './dataset-source.ts';
import { readSource } from './reader.ts';

/** The data sets that a run asks, one or several; each user keeps their own language profile. */
export interface AskedData {
  /** `recall-en`, or `recall-en+recall-zh`. */
  readonly name: string;
  /** Of the file's bytes; of several files, of their hashes in order. */
  readonly sha256: string;
  /** In the order in which they were named. */
  readonly parts: readonly Dataset[];
}

/** A data set and where it lies. */
interface PlacedDataset {
  readonly file: string;
  readonly dataset: Dataset;
}

/** The ids by which turns, sessions and KV are stored: each may occur in one data set only. */
const idsOf: Readonly<Record<string, (user: DatasetUser) => readonly string[]>> = {
  user: ({ userId }) => [userId],
  item: ({ items }) => items.map(({ itemId }) => itemId),
  memory: ({ memories }) => memories.map(({ memoryId }) => memoryId),
  conversation: ({ items }) => items.flatMap(({ conversation }) => conversation ?? []),
};

function requireOwnIds(placed: readonly PlacedDataset[]): void {
  for (const [what, of] of Object.entries(idsOf)) {
    const files = new Map<string, string>();
    for (const { file, dataset } of placed) {
      for (const id of new Set(dataset.users.flatMap(of))) {
        const other = files.get(id);
        if (other !== undefined) {
          const message = `${other} and ${file} both have ${what} ${JSON.stringify(id)}`;
          throw new BenchError('bad-data', message, 'give them different ids, or run them one at a time');
        }
        files.set(id, file);
      }
    }
  }
}

/**
 * Joins the data sets that one run asks.
 * @throws BenchError `bad-option` if one of them is named twice, `bad-data` if two have an id in common
 */
export function joinDatasets(placed: readonly PlacedDataset[]): AskedData {
  const parts = placed.map(({ dataset }) => dataset);
  const files = new Map<string, string>();
  for (const { file, dataset } of placed) {
    const other = files.get(dataset.sha256);
    if (other !== undefined) {
      const message = other === file ? `${file} is named twice` : `${other} and ${file} are the same data set`;
      throw new BenchError('bad-option', message, 'name each data set once');
    }
    files.set(dataset.sha256, file);
  }
  requireOwnIds(placed);
  const hashes = parts.map(({ sha256 }) => sha256);
  return {
    name: parts.map(({ name }) => name).join('+'),
    sha256: hashes.length === 1 ? hashes[0]! : createHash('sha256').update(hashes.join('\n')).digest('hex'),
    parts,
  };
}

/**
 * Reads the data sets that one run asks, one or more, and joins them. With retriever `given` every item lists passages.
 * @throws BenchError as `datasetSources`, `readSource` and `joinDatasets` do
 */
export async function readAskedData(
  options: DatasetOptions & Partial<Pick<BenchConfig, 'retriever'>>,
): Promise<AskedData> {
  const needs = { passages: options.retriever === 'given' };
  const placed: PlacedDataset[] = [];
  for (const source of datasetSources(options)) {
    placed.push({ file: source.place, dataset: await readSource(source, needs) });
  }
  return joinDatasets(placed);
}
