import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { cacheFolder } from './cache-folder.ts';

/** Names of public data sets, which the user brings: they belong to others and do not ship. */
export const publicDatasetNames = ['locomo', 'musique-s', 'longmemeval'] as const;
export type PublicDatasetName = (typeof publicDatasetNames)[number];

/** The origin of a public data set, and its terms. */
export interface PublicDatasetOrigin {
  readonly summary: string;
  /** Repository and file of its authors. */
  readonly published: string;
  /** The address of the file; null where it is not published as one file. */
  readonly address: string | null;
  readonly licence: string;
  /** Its texts are others': reports hold hashes in their place. */
  readonly texts: 'withheld';
}

/** @see docs/data.md */
export const publicDatasetOrigins: Readonly<Record<PublicDatasetName, PublicDatasetOrigin>> = {
  locomo: {
    summary: 'ten long conversations of two people, with questions of five categories',
    published: 'snap-research/locomo on GitHub, data/locomo10.json',
    address: 'https://raw.githubusercontent.com/snap-research/locomo/HEAD/data/locomo10.json',
    licence: 'CC BY-NC 4.0',
    texts: 'withheld',
  },
  'musique-s': {
    summary: '150 questions over several facts, ten passages each',
    published: 'YaoJiayi/CacheBlend on GitHub, inputs/musique_s.json',
    address: 'https://raw.githubusercontent.com/YaoJiayi/CacheBlend/HEAD/inputs/musique_s.json',
    licence: 'CC BY 4.0 (MuSiQue)',
    texts: 'withheld',
  },
  longmemeval: {
    summary: '500 questions, each with a history of chats with an assistant',
    published: 'xiaowu0162/LongMemEval on GitHub, longmemeval_oracle.json or longmemeval_s.json',
    // Published as an archive of several files.
    address: null,
    licence: 'MIT',
    texts: 'withheld',
  },
};

/** True for the name of a public data set. */
export function isPublicDataset(name: string): name is PublicDatasetName {
  return (publicDatasetNames as readonly string[]).includes(name);
}

/** The place in the cache folder where a public data set is found without `--data-file`. */
export function fetchedFile(
  name: PublicDatasetName,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return join(cacheFolder(environment), 'data', `${name}.json`);
}

/** Splits `locomo=FILE,musique-s=FILE` at the names; undefined for one file without a name. */
function namedFiles(text: string): Map<string, string> | undefined {
  const border = new RegExp(`(?:^|,)\\s*(${publicDatasetNames.join('|')})=`, 'g');
  const starts = [...text.matchAll(border)];
  if (starts[0]?.index !== 0) return undefined;
  return new Map(
    starts.map((match, index) => {
      const end = starts[index + 1]?.index ?? text.length;
      return [match[1]!, text.slice(match.index + match[0].length, end).trim()];
    }),
  );
}

/** The files that `--data-file` names, with or without the names of their sets. */
export function dataFilePaths(given: string): string[] {
  return [...(namedFiles(given)?.values() ?? [given])];
}

const refused = (message: string, hint: string): BenchError => new BenchError('bad-option', message, hint);

/** Files as `--data-file` gives them: a path for the one public set, or a path by name. */
function givenFiles(given: string | Readonly<Record<string, string>>, named: readonly string[]): Map<string, string> {
  const files = typeof given === 'string' ? namedFiles(given) : new Map(Object.entries(given));
  const [only, ...others] = named;
  if (only === undefined) {
    throw refused(
      '--data-file: --dataset names no public data set',
      `name one with --dataset: ${publicDatasetNames.join(', ')}; a file of your own is named by --dataset itself`,
    );
  }
  if (files === undefined) {
    if (others.length === 0) return new Map([[only, given as string]]);
    const form = named.map((name) => `${name}=FILE`).join(',');
    throw refused(
      `--data-file ${JSON.stringify(given)}: --dataset names ${named.length} public data sets`,
      `write ${form}`,
    );
  }
  const unused = [...files.keys()].find((name) => !named.includes(name));
  if (unused !== undefined)
    throw refused(`--data-file: --dataset does not name ${unused}`, `add it to --dataset, or drop its file`);
  return files;
}

/**
 * The file of each public data set among those of a run: as given, else as fetched.
 * @param given value of `--data-file`
 * @throws BenchError `bad-option` for a set without a file, and for a file without a set
 */
export function publicDatasetFiles(
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
      if (file !== undefined && file !== '') return [name, resolve(workingFolder, file)];
      const fetched = fetchedFile(name, environment);
      if (existsSync(fetched)) return [name, fetched];
      const { published, licence } = publicDatasetOrigins[name];
      throw refused(
        `--dataset ${name}: does not ship, and no file of it was given`,
        `bring it with --data-file FILE (${published}; ${licence}), or fetch it: npx dki-bench data fetch ${name}`,
      );
    }),
  );
}
