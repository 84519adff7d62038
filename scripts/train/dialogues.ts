/**
 * Writes training material as JSON lines to standard output, endlessly or `--count` times.
 * The grammar and the segment list are those of the bench itself.
 */
import { once } from 'node:events';
import type { Grammar } from '../../src/base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { PhrasingSide } from '../../src/data/generators/facts-and-relations.ts';
import { readOptions } from '../run-script.ts';
import { CURRICULUM, PRACTICE, weighted, type TrainingLayout, type TrainingStage } from './documents/curriculum.ts';
import { drawEmbeddingPairs } from './documents/embedding-pairs.ts';
import { drawTrainingDocument } from './documents/training-document.ts';

const defaults = {
  level: String(CURRICULUM.length - 1),
  seed: '1',
  count: 'Infinity',
  pairs: false,
  'pair-count': '128',
  'held-out': false,
  /** `known`, `held-out`, or `trained`, which adds templates that only training uses. */
  phrasing: 'known',
  stage: 'block',
  /** Adds documents with more tasks, for the last level. */
  practice: false,
} as const;
const values = readOptions(defaults, ['language', 'layout', 'memories']);

const SIDES: Readonly<Record<string, PhrasingSide>> = { known: 'known', trained: 'trained', 'held-out': 'heldOut' };
/** Languages of the memories and questions of an embedder's pairs: mostly the same. */
const PAIR_LANGUAGES = ['en/en', 'en/en', 'zh/zh', 'zh/zh', 'en/zh', 'zh/en'];

const level = CURRICULUM[Number(values.level)];
if (level === undefined) throw new RangeError(`--level ${values.level}: expected 0 to ${CURRICULUM.length - 1}`);
const phrasing = SIDES[values.phrasing];
if (phrasing === undefined)
  throw new RangeError(`--phrasing ${values.phrasing}: expected ${Object.keys(SIDES).join(', ')}`);
const options = {
  heldOut: values['held-out'],
  phrasing,
  stage: values.stage as TrainingStage,
  ...(values.language === undefined ? {} : { language: values.language as Grammar['language'] }),
  ...(values.layout === undefined ? {} : { layout: values.layout as TrainingLayout }),
  ...(values.memories === undefined ? {} : { memories: Number(values.memories) }),
};

const random = SeededRandom.ofPublished(Number(values.seed));
const practises = values.practice && level === CURRICULUM.at(-1);

function drawPairs() {
  const [memories, questions] = random.pick(PAIR_LANGUAGES).split('/') as [Grammar['language'], Grammar['language']];
  return drawEmbeddingPairs(random, Number(values['pair-count']), { ...options, languages: { memories, questions } });
}

process.stdout.on('error', () => process.exit(0));
for (let made = 0; made < Number(values.count); made++) {
  const record = values.pairs
    ? drawPairs()
    : drawTrainingDocument(random, practises ? weighted(random, PRACTICE) : level, options);
  if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
}
