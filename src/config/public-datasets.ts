import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';

/** Public data sets. They do not ship, since they belong to others; the user fetches them. */
export const publicDatasetNames = ['locomo', 'musique-s', 'longmemeval'] as const;
export type PublicDatasetName = (typeof publicDatasetNames)[number];

/** The origin of a public data set, and its terms. */
export interface PublicDatasetOrigin {
  readonly summary: string;
  /** Repository and file of its authors. */
  readonly published: string;
  /** The address of the file; null if the set is not published as one file. */
  readonly address: string | null;
  readonly licence: string;
  /** Its texts may not be passed on: reports hold hashes instead. */
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
