import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { dataFilePaths, fetchedFileOf, isPublicDataset } from '../config/public-datasets.ts';
import { type WithheldSet, withheldSets } from '../eval/analysis/texts/withheld-texts.ts';
import { datasetSources } from '../data/dataset-source.ts';
import { readSource } from '../data/reader.ts';
import { type HiddenTexts, neverStored } from '../viewer/hidden-texts.ts';
import type { ItemTexts, TextsOfRun } from '../viewer/stored-reports/open-reports.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { shownPath } from './command-line.ts';

const CHUNK_BYTES = 2 ** 20;
/** Enough of a hash to tell files apart by eye. */
const SHOWN_DIGITS = 16;

/** SHA-256 of a file, in hex; undefined where it cannot be read. */
function sha256Of(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const file = openSync(path, 'r');
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read));
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}

/**
 * The reader's own files of data sets that are others': whoever has the file that a run asked, byte for byte, is shown its texts.
 * Files are those of `--data-file`, or where the run had them, or in the cache; each is read once.
 */
export class ReaderFiles {
  readonly #given: readonly string[];
  readonly #hashes = new Map<string, string | undefined>();

  /** @param given value of `--data-file` @throws BenchError `not-found` for a file that is not there */
  constructor(given: string | undefined) {
    this.#given = given === undefined ? [] : dataFilePaths(given).map((path) => resolve(path));
    const missing = this.#given.find((path) => this.#hashOf(path) === undefined);
    if (missing === undefined) return;
    throw new BenchError(
      'not-found',
      `--data-file: there is no file ${shownPath(missing)}`,
      'name the file as published',
    );
  }

  readonly hidden: HiddenTexts = (run) => neverStored(run) ?? this.#missing(run);

  /** Questions and golds of a run whose report holds none, from the reader's own files; null where no file holds them. */
  readonly textsOf: TextsOfRun = async (run) => {
    const withheld = withheldSets(run);
    if (withheld.length === 0 || this.hidden(run) !== null) return null;
    const texts = new Map<string, ItemTexts>();
    for (const set of withheld) {
      const path = this.#pathOf(run, set)!;
      const isPublic = isPublicDataset(set.name);
      const [source] = datasetSources({
        dataset: [isPublic ? set.name : path],
        ...(isPublic ? { dataFile: { [set.name]: path } } : {}),
      });
      const { users } = await readSource(source!);
      for (const { items } of users) {
        for (const { itemId, query, answer } of items) texts.set(itemId, { query, gold: answer });
      }
    }
    return texts;
  };

  #missing(run: RunRecord): string | null {
    const sets = withheldSets(run).filter((set) => this.#pathOf(run, set) === undefined);
    if (sets.length === 0) return null;
    const names = sets.map(({ name }) => name).join(', ');
    const wanted = sets.map(({ fileSha256 }) => `${fileSha256.slice(0, SHOWN_DIGITS)}…`).join(', ');
    const given = this.#given.map(
      (path) => `${shownPath(path)} (sha256 ${this.#hashOf(path)!.slice(0, SHOWN_DIGITS)}…)`,
    );
    const why =
      given.length === 0
        ? `they are others': show them from your own file with --data-file FILE (sha256 ${wanted})`
        : `${given.join(', ')} is not what the run asked (sha256 ${wanted})`;
    return `hashes stand in place of the texts of ${names}: ${why}`;
  }

  /** The reader's file of a set; undefined where there is none. */
  #pathOf({ plan: { settings } }: RunRecord, { name, fileSha256 }: WithheldSet): string | undefined {
    const { dataset, dataFile } = settings as {
      readonly dataset?: readonly string[];
      readonly dataFile?: Readonly<Record<string, string>>;
    };
    const own = [
      ...(dataset ?? []),
      ...Object.values(dataFile ?? {}),
      ...(isPublicDataset(name) ? [fetchedFileOf(name)] : []),
    ];
    const files = this.#given.length > 0 ? this.#given : own;
    return files.find((path) => this.#hashOf(path) === fileSha256);
  }

  #hashOf(path: string): string | undefined {
    if (!this.#hashes.has(path)) this.#hashes.set(path, sha256Of(path));
    return this.#hashes.get(path);
  }
}
