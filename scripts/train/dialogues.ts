/**
 * Writes training material as JSON lines to standard output, endlessly or `--count` times.
 * The grammar and the segment list are those of the bench itself.
 */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { Grammar } from '../../src/base/grammar.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import {
  CURRICULUM,
  PRACTICE,
  weighted,
  type DocumentOptions,
  type TrainingLayout,
  type TrainingStage,
} from './documents/curriculum.ts';
import { drawEmbeddingPairs, type PairLanguages } from './documents/embedding-pairs.ts';
import type { PhrasingSide } from '../../src/data/generators/relations.ts';
import { drawTrainingDocument } from './documents/training-document.ts';

const { values } = parseArgs({
  options: {
    level: { type: 'string', default: String(CURRICULUM.length - 1) },
    seed: { type: 'string', default: '1' },
    count: { type: 'string' },
    pairs: { type: 'boolean', default: false },
    'pair-count': { type: 'string', default: '128' },
    'held-out': { type: 'boolean', default: false },
    /** `known`, `held-out`, or `trained`, which adds templates that only training uses. */
    phrasing: { type: 'string', default: 'known' },
    /** Languages of memories and questions of pairs, `en/zh`. */
    languages: { type: 'string' },
    language: { type: 'string' },
    stage: { type: 'string', default: 'block' },
    layout: { type: 'string' },
    memories: { type: 'string' },
    /** Adds documents with more tasks, for the last level. */
    practice: { type: 'boolean', default: false },
  },
});

const SIDES: ReadonlyMap<string, PhrasingSide> = new Map([
  ['known', 'known'],
  ['trained', 'trained'],
  ['held-out', 'heldOut'],
]);

/** Languages of an embedder's pairs: mostly the same for memories and questions. */
const PAIR_LANGUAGES: readonly PairLanguages[] = [
  { memories: 'en', questions: 'en' },
  { memories: 'en', questions: 'en' },
  { memories: 'zh', questions: 'zh' },
  { memories: 'zh', questions: 'zh' },
  { memories: 'en', questions: 'zh' },
  { memories: 'zh', questions: 'en' },
];

const level = CURRICULUM[Number(values.level)];
if (level === undefined) throw new RangeError(`--level ${values.level}: expected 0 to ${CURRICULUM.length - 1}`);
const options: DocumentOptions = {
  heldOut: values['held-out'],
  phrasing: phrasingSide(values.phrasing),
  stage: values.stage as TrainingStage,
  ...(values.language === undefined ? {} : { language: values.language as Grammar['language'] }),
  ...(values.layout === undefined ? {} : { layout: values.layout as TrainingLayout }),
  ...(values.memories === undefined ? {} : { memories: Number(values.memories) }),
};

function phrasingSide(named: string): PhrasingSide {
  const side = SIDES.get(named);
  if (side === undefined) throw new RangeError(`--phrasing ${named}: expected ${[...SIDES.keys()].join(', ')}`);
  return side;
}

function pairLanguages(): PairLanguages {
  const [memories, questions] = (values.languages?.split('/') ?? []) as Grammar['language'][];
  return memories === undefined || questions === undefined ? random.pick(PAIR_LANGUAGES) : { memories, questions };
}

const random = SeededRandom.ofPublished(Number(values.seed));
const practises = values.practice && level === CURRICULUM.at(-1);
const count = values.count === undefined ? Infinity : Number(values.count);
process.stdout.on('error', () => process.exit(0));
for (let made = 0; made < count; made++) {
  const record = values.pairs
    ? drawEmbeddingPairs(random, Number(values['pair-count']), { ...options, languages: pairLanguages() })
    : drawTrainingDocument(random, practises ? weighted(random, PRACTICE) : level, options);
  if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
}
