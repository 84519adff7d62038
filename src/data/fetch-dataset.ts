import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { describeUnprovenFile } from '../models/hub/describe-remote-file.ts';
import { fetchedFile, type PublicDatasetName, publicDatasetOrigins } from '../config/public-datasets.ts';
import { datasetSources } from './dataset-source.ts';
import type { DatasetStatistics } from './verify/dataset-statistics.ts';
import { verifySource } from './verify/verify-dataset.ts';
import { fileChecksum } from '../models/hub/file-checksum.ts';
import { type DownloadOptions, downloadFile } from '../models/hub/download-file.ts';

/** A public data set at an address, before it is fetched; `path` is its place in the cache. */
export type DatasetOffer = ReturnType<typeof datasetOffer>;

/** A public data set in the cache. */
export type FetchedDataset = Awaited<ReturnType<typeof fetchDataset>>;

/**
 * A fetch before it is confirmed: the file, its address, its terms.
 * @param address in place of the published one
 * @throws BenchError `bad-option` for an address that is none, and for a set that needs one
 */
export function datasetOffer(
  name: PublicDatasetName,
  givenAddress: string | undefined,
  environment?: Readonly<Record<string, string | undefined>>,
) {
  const { licence, published, address: known } = publicDatasetOrigins[name];
  const address = givenAddress ?? known;
  if (address === null) {
    const hint = 'unpack it and give --data-file FILE, or name a file with --address URL';
    throw new BenchError('bad-option', `${name}: is not published as one file (${published})`, hint);
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if ((url?.protocol !== 'https:' && url?.protocol !== 'http:') || url.username !== '' || url.password !== '') {
    throw new BenchError('bad-option', '--address: expected a web address without a password', 'https://…/file.json');
  }
  const path = fetchedFile(name, environment);
  return { name, address, licence, path, isFetched: existsSync(path) };
}

/**
 * Fetches a public data set into the cache, or takes the one that lies there. No hash of these files is published: that of the
 * first fetch is recorded beside the file, in hex, and every later fetch must have it.
 * @throws BenchError `network`, `not-found`, `disk`; `bad-data` for a file that is no such set, or another than before
 */
export async function fetchDataset(offer: DatasetOffer, options: DownloadOptions = {}) {
  const { name, address, path, isFetched } = offer;
  const record = `${path}.sha256`;
  const before = existsSync(record) ? readFileSync(record, 'utf8').trim() : undefined;
  const arrived = isFetched ? path : `${path}.new`;
  if (!isFetched) {
    const remote = await describeUnprovenFile(address, options);
    await downloadFile(remote, arrived, { ...options, name, hub: { endpoint: address, token: undefined } });
  }
  const sha256 = await fileChecksum(arrived);
  try {
    if (before !== undefined && before !== sha256) throw otherBytes(offer, record, { before, sha256 });
    const { users, items } = await countRecords(offer, arrived);
    if (!isFetched) renameSync(arrived, path);
    if (before === undefined) writeFileSync(record, `${sha256}\n`);
    const hash = before === undefined ? ('recorded' as const) : ('as before' as const);
    return { name, path, sha256, hash, users, items };
  } catch (error) {
    if (!isFetched) rmSync(arrived, { force: true });
    throw error;
  }
}

/** Reads a fetched file as what it should be. @throws BenchError `bad-data` for any other file */
async function countRecords({ name, address }: DatasetOffer, file: string): Promise<DatasetStatistics> {
  const [source] = datasetSources({ dataset: [name], dataFile: { [name]: file } });
  try {
    return (await verifySource(source!)).statistics;
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    const message = `${address}: what it gives is not ${name}: ${error.message}`;
    throw new BenchError('bad-data', message, 'give another address with --address URL', error);
  }
}

function otherBytes(
  { name, path, isFetched }: DatasetOffer,
  record: string,
  { before, sha256 }: { readonly before: string; readonly sha256: string },
): BenchError {
  const what = isFetched
    ? `${path} was changed since its first fetch`
    : `${name} is another file than at its first fetch`;
  const hint = `where that is right, delete ${isFetched ? `${path} and ` : ''}${record}, and fetch it again`;
  return new BenchError('bad-data', `${what}: sha256 ${sha256}, before ${before}`, hint);
}
