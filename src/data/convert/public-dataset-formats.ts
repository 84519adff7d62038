import type { PublicDatasetName } from '../../config/public-datasets.ts';
import type { LocomoErrata } from './locomo-errata.ts';
import type { JsonElements } from '../stream-json-list.ts';
import { locomoRecords } from './locomo.ts';
import { longmemevalRecords } from './longmemeval.ts';
import { musiqueRecords } from './musique.ts';
import type { SourceRecord } from './source-record.ts';
import type { ConversionNotes } from './conversion-notes.ts';

/** How the file of a public data set becomes memories and questions. @see docs/data.md */
interface PublicDatasetFormat {
  /** Hint for a file of another shape. */
  readonly shape: string;
  readonly primaryMetric: string;
  readonly note: string;
  readonly records: (
    path: string,
    elements: JsonElements,
    options: { readonly notes: ConversionNotes; readonly errata?: LocomoErrata | undefined },
  ) => AsyncGenerator<SourceRecord>;
}

export const publicDatasetFormats: Readonly<Record<PublicDatasetName, PublicDatasetFormat>> = {
  locomo: {
    shape: 'a LoCoMo file is one JSON list of conversations',
    primaryMetric: 'locomoF1',
    note: 'each turn is a memory, and prompts are those of this bench: scores are not comparable with published ones',
    records: locomoRecords,
  },
  'musique-s': {
    shape: 'a file of CacheBlend is one JSON list of {question, answers, ctxs}',
    primaryMetric: 'tokenF1',
    note: 'passages that hold the answer count as evidence: the file marks none, though a question needs several',
    records: (path, elements, { notes }) => musiqueRecords(path, elements, notes),
  },
  longmemeval: {
    shape: 'a LongMemEval file is one JSON list of questions with their histories',
    primaryMetric: 'contains',
    note: 'answers are scored by their words, not by a judge: scores are not comparable with published ones',
    records: (path, elements, { notes }) => longmemevalRecords(path, elements, notes),
  },
};
