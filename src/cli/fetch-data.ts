import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { isPublicDataset, publicDatasetNames } from '../config/public-datasets.ts';
import { datasetOffer, fetchDataset, type FetchedDataset } from '../data/fetch-dataset.ts';
import { printable, printableJson } from '../render/printable.ts';
import { shownPath } from './command-line.ts';
import { confirmed } from './confirmation.ts';
import { heedingInterrupts } from './heeding-interrupts.ts';
import { ProgressDisplay } from './progress.ts';

/** Options of `data fetch`. */
interface FetchFlags {
  readonly address?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** Fetches a public data set into the cache, after its terms were shown and accepted. */
export async function fetchData(name: string, { address, yes, json }: FetchFlags): Promise<void> {
  if (!isPublicDataset(name)) {
    const message = `unknown public data set "${name}"${didYouMean(name, publicDatasetNames)}`;
    throw new BenchError('bad-option', message, `known: ${publicDatasetNames.join(', ')}`);
  }
  const offer = datasetOffer(name, address);
  const { licence, path, isFetched } = offer;
  if (!isFetched) {
    const terms = [`${name}: ${offer.address}`, `licence: ${licence}`, `kept as: ${shownPath(path)}`];
    process.stderr.write(terms.map((line) => `${printable(line)}\n`).join(''));
    if (!(await confirmed(`Fetch ${name} on these terms?`, yes === true))) {
      process.stderr.write('nothing was fetched\n');
      return;
    }
  }
  await heedingInterrupts(async (signal) => {
    using display = json === true ? undefined : new ProgressDisplay(process.stderr);
    const fetched = await fetchDataset(offer, { onProgress: display?.showDownload, signal });
    display?.[Symbol.dispose]();
    const document = { ...fetched, licence, ...(isFetched ? {} : { address: offer.address }) };
    process.stdout.write(json === true ? printableJson(document) : `${printable(lineOf(fetched, isFetched))}\n`);
  });
}

/** `locomo: 10 users, 1986 questions, PATH; sha256 …, recorded now, since none is published` */
function lineOf({ name, path, sha256, hash, users, items }: FetchedDataset, isFetched: boolean): string {
  const where = `${isFetched ? 'in the cache already, ' : ''}${shownPath(path)}`;
  const proof =
    hash === 'recorded' ? 'recorded now, since none is published: later fetches must have it' : 'as recorded';
  return `${name}: ${users} users, ${items} questions, ${where}; sha256 ${sha256}, ${proof}; ask it: --dataset ${name}`;
}
