import type { PublicDatasetName } from '../../config/public-datasets.ts';
import type { LocomoErrata } from './locomo-errata.ts';
import { type JsonElements, jsonElements } from '../stream-json-list.ts';
import { beamElements, beamRecords } from './beam.ts';
import { locomoRecords } from './locomo.ts';
import { longmemevalRecords } from './longmemeval.ts';
import { passageQuestionRecords, sharedContextRecords } from './passage-questions.ts';
import type { ConversionNotes, SourceRecord } from './source-record.ts';

/** How the file of a public data set becomes memories and questions. @see docs/data.md */
interface PublicDatasetFormat {
  readonly open: (path: string) => JsonElements;
  readonly primaryMetric: string;
  readonly note: string;
  readonly records: (
    path: string,
    elements: JsonElements,
    options: { readonly notes: ConversionNotes; readonly errata?: LocomoErrata | undefined },
  ) => AsyncGenerator<SourceRecord>;
}

/** One JSON file. @param shape hint for a file of another shape */
const oneFile = (shape: string) => (path: string) => jsonElements(path, shape);

const MARKED =
  'marked passages are the evidence; in forms that mark none, passages that hold the answer, though a question needs several';

/** Questions with passages, in any of the published forms. */
const passageQuestions = (name: string, prefix: string, note = MARKED): PublicDatasetFormat => ({
  open: oneFile(
    `a file of ${name} is one JSON list or JSON Lines, of CacheBlend, of LongBench, or as its authors publish it`,
  ),
  primaryMetric: 'tokenF1',
  note,
  records: (_, elements, { notes }) => passageQuestionRecords(prefix, elements, notes),
});

export const publicDatasetFormats: Readonly<Record<PublicDatasetName, PublicDatasetFormat>> = {
  locomo: {
    open: oneFile('a LoCoMo file is one JSON list of conversations'),
    primaryMetric: 'locomoF1',
    note: 'each turn is a memory, and prompts are those of this bench: scores are not comparable with published ones',
    records: locomoRecords,
  },
  'musique-s': passageQuestions('MuSiQue', 'q'),
  '2wiki': passageQuestions('2WikiMultiHopQA', 'w'),
  hotpotqa: passageQuestions('HotpotQA', 'h'),
  longmemeval: {
    open: oneFile('a LongMemEval file is one JSON list of questions with their histories'),
    primaryMetric: 'contains',
    note: 'answers are scored by their words, not by a judge: scores are not comparable with published ones',
    records: (path, elements, { notes }) => longmemevalRecords(path, elements, notes),
  },
  beam: {
    open: beamElements,
    primaryMetric: 'contains',
    note: 'long answers are scored point by point, and only with --judge: scores are not comparable with published ones',
    records: (_, elements, { notes }) => beamRecords(elements, notes),
  },
  'multi-turn': {
    open: oneFile('a file of SCBench is JSON Lines of {context, multi_turns: [{input, answer}]}'),
    primaryMetric: 'contains',
    note: "the history holds the arm's own answers (none with --history-turns 0), not the golds, as in SCBench's published runs",
    records: (_, elements, { notes }) => sharedContextRecords(elements, notes),
  },
};
