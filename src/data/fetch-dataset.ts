import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';

import { type DownloadOptions, fetchFile } from '../models/hub/hub-file.ts';
import { describeUnprovenFile, fileChecksum } from '../models/hub/remote-file.ts';
import { fetchedFile, type PublicDatasetName, publicDatasetOrigins } from '../config/public-datasets.ts';
import { datasetSources } from './dataset-source.ts';
import { verifySource } from './verify/verify-dataset.ts';

/** A public data set at an address, before anything is asked of it. */
export interface DatasetOffer {
  readonly name: PublicDatasetName;
  readonly address: string;
  readonly licence: string;
  /** Its place in the cache. */
  readonly path: string;
  readonly isFetched: boolean;
}

/** A public data set in the cache. */
export interface FetchedDataset {
  readonly name: PublicDatasetName;
  readonly path: string;
  readonly sha256: string;
  /** `recorded`: no hash of the file is published, and this is that of its first fetch; `as before`: it is the recorded one. */
  readonly hash: 'recorded' | 'as before';
  readonly users: number;
  readonly items: number;
}

/**
 * A fetch before it is confirmed: the file, its address, its terms.
 * @param address in place of the published one
 * @throws BenchError `bad-option` for an address that is none, and for a set that needs one
 */
export function datasetOffer(
  name: PublicDatasetName,
  address: string | undefined,
  environment?: Readonly<Record<string, string | undefined>>,
): DatasetOffer {
  const { licence, published, address: known } = publicDatasetOrigins[name];
  const chosen = address ?? known;
  if (chosen === null) {
    throw new BenchError(
      'bad-option',
      `${name}: is not published as one file (${published})`,
      'unpack it and give --data-file FILE, or name a file with --address URL',
    );
  }
  const url = URL.canParse(chosen) ? new URL(chosen) : undefined;
  if ((url?.protocol !== 'https:' && url?.protocol !== 'http:') || url.username !== '' || url.password !== '') {
    throw new BenchError('bad-option', '--address: expected a web address without a password', 'https://…/file.json');
  }
  const path = fetchedFile(name, environment);
  return { name, address: chosen, licence, path, isFetched: existsSync(path) };
}

/** The file beside a fetched one that holds the hash of its first fetch, in hex. */
const recordOf = (path: string): string => `${path}.sha256`;

function recordedHash(path: string): string | undefined {
  return existsSync(recordOf(path)) ? readFileSync(recordOf(path), 'utf8').trim() : undefined;
}

/**
 * Fetches a public data set into the cache, or takes the one that lies there. No hash of these files is published: that of the
 * first fetch is recorded, and every later fetch must have it.
 * @throws BenchError `network`, `not-found`, `disk`; `bad-data` for a file that is no such set, or another than before
 */
export async function fetchDataset(
  { name, address, path, isFetched }: DatasetOffer,
  options: DownloadOptions = {},
): Promise<FetchedDataset> {
  const before = recordedHash(path);
  const arrived = isFetched ? path : `${path}.new`;
  if (!isFetched) {
    const remote = await describeUnprovenFile(address, options);
    await fetchFile(remote, arrived, { ...options, name, hub: { endpoint: address, token: undefined } });
  }
  const sha256 = await fileChecksum(arrived);
  try {
    if (before !== undefined && before !== sha256) throw otherBytes(name, path, { before, sha256, isFetched });
    const { users, items } = await contentOf(name, arrived, address);
    if (!isFetched) renameSync(arrived, path);
    if (before === undefined) writeFileSync(recordOf(path), `${sha256}\n`);
    return { name, path, sha256, hash: before === undefined ? 'recorded' : 'as before', users, items };
  } catch (error) {
    if (!isFetched) rmSync(arrived, { force: true });
    throw error;
  }
}

/** Reads a fetched file as what it should be. */
async function contentOf(
  name: PublicDatasetName,
  file: string,
  address: string,
): Promise<{ readonly users: number; readonly items: number }> {
  const [source] = datasetSources({ dataset: [name], dataFile: { [name]: file } });
  try {
    const { statistics } = await verifySource(source!);
    return statistics;
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    const message = `${address}: what it gives is not ${name}: ${error.message}`;
    throw new BenchError('bad-data', message, 'give another address with --address URL', error);
  }
}

function otherBytes(
  name: string,
  path: string,
  { before, sha256, isFetched }: { readonly before: string; readonly sha256: string; readonly isFetched: boolean },
): BenchError {
  const what = isFetched
    ? `${path} was changed since its first fetch`
    : `${name} is another file than at its first fetch`;
  return new BenchError(
    'bad-data',
    `${what}: sha256 ${sha256}, before ${before}`,
    `where that is right, delete ${isFetched ? `${path} and ` : ''}${recordOf(path)}, and fetch it again`,
  );
}
