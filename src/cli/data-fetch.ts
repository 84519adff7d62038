import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BenchError, didYouMean } from '../base/bench-error.ts';
import { isPublicDataset, publicDatasetNames } from '../config/public-datasets.ts';
import { datasetOffer, fetchDataset, type FetchedDataset } from '../data/fetch-dataset.ts';
import { withInterrupt } from './with-interrupt.ts';
import { displayPath, printLines, printResult } from './output.ts';
import { ProgressDisplay } from './progress.ts';

interface FetchFlags {
  readonly address?: string;
  readonly yes?: true;
  readonly json?: true;
}

export async function fetchData(name: string, { address, yes, json }: FetchFlags): Promise<void> {
  if (!isPublicDataset(name)) {
    const message = `unknown public data set "${name}"${didYouMean(name, publicDatasetNames)}`;
    throw new BenchError('bad-option', message, `known: ${publicDatasetNames.join(', ')}`);
  }
  const offer = datasetOffer(name, address);
  const { licence, path, isFetched } = offer;
  if (!isFetched) {
    const terms = [`${name}: ${offer.address}`, `licence: ${licence}`, `stored as: ${displayPath(path)}`];
    printLines(terms, process.stderr);
    if (!(await confirm(`Fetch ${name} on these terms?`, yes === true, 'add --yes to accept the terms'))) {
      process.stderr.write('nothing was fetched\n');
      return;
    }
  }
  await withInterrupt(async (signal) => {
    using display = json === true ? undefined : new ProgressDisplay(process.stderr);
    const fetched = await fetchDataset(offer, { onProgress: display?.showDownload, signal });
    display?.[Symbol.dispose]();
    const document = { ...fetched, licence, ...(isFetched ? {} : { address: offer.address }) };
    printResult(json, document, () => [fetchedLine(fetched, isFetched)]);
  });
}

/** `locomo: 10 users, 1986 questions, PATH; sha256 …, recorded now, since none is published` */
function fetchedLine({ name, path, sha256, hash, users, items }: FetchedDataset, isFetched: boolean): string {
  const where = `${isFetched ? 'in the cache already, ' : ''}${displayPath(path)}`;
  const proof =
    hash === 'recorded' ? 'recorded now, since none is published; later fetches must match it' : 'as recorded';
  return `${name}: ${users} users, ${items} questions, ${where}; sha256 ${sha256}, ${proof}; use it: --dataset ${name}`;
}

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/** Asks a question unless `yes`. @param hint what to do without a terminal @throws BenchError `bad-option` if standard input is no terminal */
export async function confirm(
  question: string,
  yes: boolean,
  hint: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  if (yes) return true;
  if (input.isTTY !== true) {
    const message = `there is no terminal to ask on: ${question}`;
    throw new BenchError('bad-option', message, hint);
  }
  const lines = createInterface({ input, output });
  try {
    output.write(`${question} [y/N] `);
    const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
    return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
  } finally {
    lines.close();
  }
}
