import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { describeFileWithoutChecksum } from '../models/hub/describe-remote-file.ts';
import { fetchedFile, type PublicDatasetName, publicDatasetOrigins } from '../config/public-datasets.ts';
import { datasetSources } from './dataset-source.ts';
import { type DatasetStatistics, verifyDataset } from './verify/verify-dataset.ts';
import { fileChecksum } from '../models/hub/file-checksum.ts';
import { type DownloadOptions, downloadFile } from '../models/hub/download-file.ts';

/** A public data set at an address, before it is fetched; `path` is its place in the cache. */
export type DatasetOffer = ReturnType<typeof datasetOffer>;

export type FetchedDataset = Awaited<ReturnType<typeof fetchDataset>>;

/**
 * A download for the user to confirm: file, address, licence.
 * @param givenAddress replaces the published address
 * @throws BenchError `bad-option` if the address is invalid, or if none is given or published
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
 * Fetches a public data set unless it is in the cache. Publishers give no hashes, so that of the first fetch is
 * recorded beside the file, and later fetches must match it.
 * @throws BenchError `network`, `not-found`, `disk`; `bad-data` for a file of other content, or another hash
 */
export async function fetchDataset(offer: DatasetOffer, options: DownloadOptions = {}) {
  const { name, address, path, isFetched } = offer;
  const record = `${path}.sha256`;
  const before = existsSync(record) ? readFileSync(record, 'utf8').trim() : undefined;
  const arrived = isFetched ? path : `${path}.new`;
  if (!isFetched) {
    const remote = await describeFileWithoutChecksum(address, options);
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

/** Counts the records of a fetched file. @throws BenchError `bad-data` if it is not this data set */
async function countRecords({ name, address }: DatasetOffer, file: string): Promise<DatasetStatistics> {
  const [source] = datasetSources({ dataset: [name], dataFile: { [name]: file } });
  try {
    return (await verifyDataset(source!)).statistics;
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    const message = `${address}: the file is not ${name}: ${error.message}`;
    throw new BenchError('bad-data', message, 'give another address with --address URL', error);
  }
}

function otherBytes(
  { name, path, isFetched }: DatasetOffer,
  record: string,
  { before, sha256 }: { readonly before: string; readonly sha256: string },
): BenchError {
  const what = isFetched ? `${path} was changed since its first fetch` : `${name} differs from the first fetch`;
  const hint = `if the new file is right, delete ${isFetched ? `${path} and ` : ''}${record}, and fetch it again`;
  return new BenchError('bad-data', `${what}: sha256 ${sha256}, before ${before}`, hint);
}
