import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { readLargeFile } from '../base/read-remove-rename-files.ts';
import { dataFilePaths, fetchedFile, isPublicDataset } from '../config/public-datasets.ts';
import { beamFiles } from '../data/convert/beam.ts';
import { datasetSources } from '../data/dataset-source.ts';
import { readDatasetSource } from '../data/read-dataset.ts';
import { type WithheldSet, withheldSets } from '../eval/analysis/text-restrictions.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { type HiddenTexts, neverStored } from '../viewer/hidden-texts.ts';
import type { ItemTexts, FindItemTexts } from '../viewer/open-reports.ts';
import { displayPath } from './output.ts';

/** Digits of a hash that are shown, enough to tell files apart. */
const SHOWN_DIGITS = 16;

/**
 * Texts that reports withhold, shown only to a reader whose file of the data set equals that of the run, byte for byte. Files are
 * those of `--data-file`, else the run's paths and the cache; each is hashed once.
 */
export class WithheldTexts {
  readonly #given: readonly string[];
  readonly #hashes = new Map<string, string | undefined>();

  /** @param given value of `--data-file` @throws BenchError `not-found` for a file that does not exist */
  constructor(given: string | undefined) {
    this.#given = given === undefined ? [] : dataFilePaths(given).map((path) => resolve(path));
    const missing = this.#given.find((path) => this.#hash(path) === undefined);
    if (missing === undefined) return;
    const message = `--data-file: there is no file ${displayPath(missing)}`;
    throw new BenchError('not-found', message, 'name the file as published');
  }

  /** Why the texts of a run are hidden; null if they are shown. */
  readonly hidden: HiddenTexts = (run) => {
    const reason = neverStored(run);
    if (reason !== null) return reason;
    const sets = withheldSets(run).filter((set) => this.#find(run, set) === undefined);
    if (sets.length === 0) return null;
    const names = sets.map(({ name }) => name).join(', ');
    const digits = (hash: string): string => `${hash.slice(0, SHOWN_DIGITS)}…`;
    const wanted = sets.map(({ fileSha256 }) => digits(fileSha256)).join(', ');
    const given = this.#given.map((path) => `${displayPath(path)} (sha256 ${digits(this.#hash(path)!)})`);
    const why =
      given.length === 0
        ? `show them from your own file with --data-file FILE (sha256 ${wanted})`
        : `${given.join(', ')} is not the file of the run (sha256 ${wanted})`;
    return `hashes replace the texts of ${names}, which may not be passed on: ${why}`;
  };

  /** Questions and gold answers of a run, whose report has none; null if no file has them. */
  readonly textsOf: FindItemTexts = async (run) => {
    const withheld = withheldSets(run);
    if (withheld.length === 0 || this.hidden(run) !== null) return null;
    const texts = new Map<string, ItemTexts>();
    for (const set of withheld) {
      const path = this.#find(run, set)!;
      const dataset = [isPublicDataset(set.name) ? set.name : path];
      const [source] = datasetSources({ dataset, dataFile: { [set.name]: path } });
      const { users } = await readDatasetSource(source!);
      for (const { itemId, query, answer } of users.flatMap(({ items }) => items)) {
        texts.set(itemId, { query, gold: answer });
      }
    }
    return texts;
  };

  /** The reader's file of a set; undefined if there is none. */
  #find({ plan: { settings } }: RunRecord, { name, fileSha256 }: WithheldSet): string | undefined {
    const { dataset = [], dataFile = {} } = settings as {
      readonly dataset?: readonly string[];
      readonly dataFile?: Readonly<Record<string, string>>;
    };
    const fetched = isPublicDataset(name) ? [fetchedFile(name)] : [];
    const files = this.#given.length > 0 ? this.#given : [...dataset, ...Object.values(dataFile), ...fetched];
    return files.find((path) => this.#hash(path) === fileSha256);
  }

  #hash(path: string): string | undefined {
    if (!this.#hashes.has(path)) this.#hashes.set(path, existsSync(path) ? sha256(path) : undefined);
    return this.#hashes.get(path);
  }
}

/** SHA-256 of a file, or of the files of a folder of chats, in hex. */
function sha256(path: string): string {
  const hash = createHash('sha256');
  const files = statSync(path).isDirectory()
    ? beamFiles(path).flatMap(({ chat, questions }) => [chat, questions])
    : [path];
  for (const name of files) hash.update(readLargeFile(name));
  return hash.digest('hex');
}
