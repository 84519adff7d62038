import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { isPublicDataset, type PublicDatasetName } from '../config/public-datasets.ts';
import { convertLines } from './convert/convert-dataset.ts';
import type { PublicDataOrigin } from './dataset.ts';
import type { FileLine, FileLines } from './stream-text-file.ts';
import { recordLines } from './stream-json-list.ts';

/** The lines of a data set, read or converted from a file; `place` names it in messages. */
export interface DatasetSource {
  readonly place: string;
  readonly lines: FileLines;
  /** Origin of a public data set, else undefined. Call it after the last line. */
  readonly brought: () => PublicDataOrigin | undefined;
}

export type DatasetOptions = Pick<BenchConfig, 'dataset' | 'dataFile' | 'errata'>;

/** A file in JSON Lines, or with one JSON list, gzipped or not. */
export function fileSource(path: string): DatasetSource {
  return { place: path, lines: recordLines(path), brought: () => undefined };
}

function publicSource(name: PublicDatasetName, file: string, errata: string | undefined): DatasetSource {
  const converted = convertLines({ from: name, file, errata }, name);
  const hash = createHash('sha256');
  async function* lines(): AsyncGenerator<FileLine> {
    let number = 0;
    for await (const text of converted.lines) {
      hash.update(`${text}\n`);
      yield { text, place: `${name}:${++number}` };
    }
  }
  return {
    place: name,
    lines: { [Symbol.asyncIterator]: lines, sha256: () => hash.digest('hex') },
    brought: () => {
      const { file: sha256, errata: errataSha256 } = converted.sha256()!;
      // Notes appear in reports, which must not name folders of this machine.
      const notes = converted.notes().map((note) => note.replaceAll(file, basename(file)));
      return { sha256, ...(errataSha256 === undefined ? {} : { errataSha256 }), notes };
    },
  };
}

export function datasetSources({ dataset, dataFile = {}, errata }: DatasetOptions): DatasetSource[] {
  return dataset.map((name) =>
    isPublicDataset(name)
      ? publicSource(name, dataFile[name]!, name === 'locomo' ? errata : undefined)
      : fileSource(name),
  );
}
