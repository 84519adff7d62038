import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { isPublicDataset, publicDatasetNames } from './public-datasets.ts';
import { shippedDatasets } from './shipped-datasets.ts';

/**
 * Resolves the value of `--dataset`: a list, or comma-separated names. The name of an existing file may contain commas.
 * @returns paths of files, and names of public data sets
 * @throws BenchError `bad-option` for an unknown name
 */
export function resolveDatasets(given: string | readonly string[], workingFolder: string): string[] {
  const isOne = typeof given === 'string' && (!given.includes(',') || existsSync(resolve(workingFolder, given)));
  const names = isOne ? [given] : typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given;
  return names.map((name) => resolveDataset(name, workingFolder));
}

function resolveDataset(dataset: string, workingFolder: string): string {
  if (/[/\\.]/.test(dataset)) return resolve(workingFolder, dataset);
  const shipped = shippedDatasets();
  const path = shipped.get(dataset);
  if (path !== undefined) return path;
  if (isPublicDataset(dataset)) return dataset;
  const known = [...shipped.keys(), ...publicDatasetNames];
  throw new BenchError(
    'bad-option',
    `--dataset: unknown data set "${dataset}"${didYouMean(dataset, known)}`,
    `shipped: ${[...shipped.keys()].join(', ')}; public: ${publicDatasetNames.join(', ')}; for a file, write ./${dataset}`,
  );
}
