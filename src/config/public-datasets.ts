import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';

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

/** Public data sets. They do not ship, since they belong to others; the user fetches them. @see docs/data.md */
export const publicDatasetOrigins = {
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
  '2wiki': {
    summary: 'questions over two to four facts, with ten passages or the contexts of LongBench',
    published: 'Alab-NII/2wikimultihop on GitHub, dev.json, or THUDM/LongBench on Hugging Face, 2wikimqa.jsonl',
    address: null,
    licence: 'Apache-2.0',
    texts: 'withheld',
  },
  hotpotqa: {
    summary: 'questions over two facts, with ten passages or the contexts of LongBench',
    published: 'hotpotqa.github.io, hotpot_dev_distractor_v1.json, or THUDM/LongBench on Hugging Face, hotpotqa.jsonl',
    address: 'http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json',
    licence: 'CC BY-SA 4.0',
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
  beam: {
    summary: 'long chats with an assistant, each with 20 questions of ten kinds',
    published:
      'mohammadtavakoli78/BEAM on GitHub, a folder of chats such as chats/100K, or Mohammadta/BEAM on Hugging Face',
    address: null,
    licence: 'none given by its authors',
    texts: 'withheld',
  },
  'multi-turn': {
    summary: 'shared contexts with several questions one after the other, in the form of SCBench',
    published: 'microsoft/SCBench on Hugging Face, one task as JSON Lines',
    address: null,
    licence: 'MIT',
    texts: 'withheld',
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
