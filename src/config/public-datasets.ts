import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { cacheFolder } from './cache-folder.ts';

/** The origin of a public data set, and its terms. */
interface PublicDatasetOrigin {
  readonly summary: string;
  /** Repository and file of its authors. */
  readonly published: string;
  /** The address of the file; null if the set is not published as one file. */
  readonly address: string | null;
  readonly licence: string;
}

/** Public data sets. They do not ship, since they belong to others; the user fetches them. @see docs/data.md */
export const publicDatasetOrigins = {
  locomo: {
    summary: 'ten long conversations of two people, with questions of five categories',
    published: 'snap-research/locomo on GitHub, data/locomo10.json',
    address: 'https://raw.githubusercontent.com/snap-research/locomo/HEAD/data/locomo10.json',
    licence: 'CC BY-NC 4.0',
  },
  'musique-s': {
    summary: '150 questions over several facts, ten passages each',
    published: 'YaoJiayi/CacheBlend on GitHub, inputs/musique_s.json',
    address: 'https://raw.githubusercontent.com/YaoJiayi/CacheBlend/HEAD/inputs/musique_s.json',
    licence: 'CC BY 4.0 (MuSiQue)',
  },
  '2wiki': {
    summary: 'questions over two to four facts, with ten passages or the contexts of LongBench',
    published: 'Alab-NII/2wikimultihop on GitHub, dev.json, or THUDM/LongBench on Hugging Face, 2wikimqa.jsonl',
    address: null,
    licence: 'Apache-2.0',
  },
  hotpotqa: {
    summary: 'questions over two facts, with ten passages or the contexts of LongBench',
    published: 'hotpotqa.github.io, hotpot_dev_distractor_v1.json, or THUDM/LongBench on Hugging Face, hotpotqa.jsonl',
    address: 'http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json',
    licence: 'CC BY-SA 4.0',
  },
  longmemeval: {
    summary: '500 questions, each with a history of chats with an assistant',
    published: 'xiaowu0162/LongMemEval on GitHub, longmemeval_oracle.json or longmemeval_s.json',
    // Published as an archive of several files.
    address: null,
    licence: 'MIT',
  },
  beam: {
    summary: 'long chats with an assistant, each with 20 questions of ten kinds',
    published:
      'mohammadtavakoli78/BEAM on GitHub, a folder of chats such as chats/100K, or Mohammadta/BEAM on Hugging Face',
    address: null,
    licence: 'none given by its authors',
  },
  'multi-turn': {
    summary: 'shared contexts with several questions one after the other, in the form of SCBench',
    published: 'microsoft/SCBench on Hugging Face, one task as JSON Lines',
    address: null,
    licence: 'MIT',
  },
} as const satisfies Readonly<Record<string, PublicDatasetOrigin>>;

export type PublicDatasetName = keyof typeof publicDatasetOrigins;
export const publicDatasetNames = Object.keys(publicDatasetOrigins) as readonly PublicDatasetName[];

export function isPublicDataset(name: string): name is PublicDatasetName {
  return Object.hasOwn(publicDatasetOrigins, name);
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
