import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { fetchedFile, isPublicDataset, publicDatasetNames, publicDatasetOrigins } from './public-datasets.ts';

/** Splits `locomo=FILE,musique-s=FILE` at the names; undefined for one file without a name. */
function namedFiles(text: string): Map<string, string> | undefined {
  const setName = new RegExp(`(?:^|,)\\s*(${publicDatasetNames.join('|')})=`, 'g');
  const starts = [...text.matchAll(setName)];
  if (starts[0]?.index !== 0) return undefined;
  return new Map(
    starts.map((match, index) => {
      const end = starts[index + 1]?.index ?? text.length;
      return [match[1]!, text.slice(match.index + match[0].length, end).trim()];
    }),
  );
}

/** The paths in a value of `--data-file`, without the names of their sets. */
export function dataFilePaths(given: string): string[] {
  return [...(namedFiles(given)?.values() ?? [given])];
}

const badOption = (message: string, hint: string): BenchError => new BenchError('bad-option', message, hint);

/** The paths of `--data-file` by set. A path without a name belongs to the only public set in `--dataset`. */
function givenFiles(given: string | Readonly<Record<string, string>>, named: readonly string[]): Map<string, string> {
  const files = typeof given === 'string' ? namedFiles(given) : new Map(Object.entries(given));
  const [only, ...others] = named;
  if (only === undefined) {
    throw badOption(
      '--data-file: --dataset names no public data set',
      `name one with --dataset: ${publicDatasetNames.join(', ')}; a file of your own is named by --dataset itself`,
    );
  }
  if (files === undefined) {
    if (others.length === 0) return new Map([[only, given as string]]);
    const form = named.map((name) => `${name}=FILE`).join(',');
    throw badOption(
      `--data-file ${JSON.stringify(given)}: --dataset names ${named.length} public data sets`,
      `write ${form}`,
    );
  }
  const empty = [...files].find(([, file]) => file === '');
  if (empty !== undefined) throw badOption(`--data-file ${empty[0]}=: no file is named`, `write ${empty[0]}=FILE`);
  const unused = [...files.keys()].find((name) => !named.includes(name));
  if (unused !== undefined)
    throw badOption(`--data-file: --dataset does not name ${unused}`, `add it to --dataset, or drop its file`);
  return files;
}

/**
 * The file of each public data set of a run: from `--data-file`, else from the cache.
 * @param given value of `--data-file`
 * @throws BenchError `bad-option` for a set without a file, and for a file without a set
 */
export function resolvePublicDatasetFiles(
  datasets: readonly string[],
  given: string | Readonly<Record<string, string>> | undefined,
  workingFolder: string,
  environment?: Parameters<typeof fetchedFile>[1],
): Readonly<Record<string, string>> {
  const names = datasets.filter(isPublicDataset);
  const files = given === undefined ? new Map<string, string>() : givenFiles(given, names);
  return Object.fromEntries(
    names.map((name) => {
      const file = files.get(name);
      if (file !== undefined) return [name, resolve(workingFolder, file)];
      const fetched = fetchedFile(name, environment);
      if (existsSync(fetched)) return [name, fetched];
      const { published, licence } = publicDatasetOrigins[name];
      throw badOption(
        `--dataset ${name}: it does not ship, and no file was given`,
        `give its file with --data-file FILE (${published}; ${licence}), or fetch it: npx dki-bench data fetch ${name}`,
      );
    }),
  );
}
