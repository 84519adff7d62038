/**
 * Writes training material as JSON lines to standard output, endlessly or `--count` times.
 * The grammar and the segment list are those of the bench itself.
 */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../../src/eval/random.ts';
import { CURRICULUM, type DocumentOptions, type TrainingLayout } from '../../src/eval/synthesis/curriculum.ts';
import { drawEmbeddingPairs } from '../../src/eval/synthesis/embedding-pairs.ts';
import { drawTrainingDocument } from '../../src/eval/synthesis/training-document.ts';

const { values } = parseArgs({
  options: {
    level: { type: 'string', default: String(CURRICULUM.length - 1) },
    seed: { type: 'string', default: '1' },
    count: { type: 'string' },
    pairs: { type: 'boolean', default: false },
    'pair-count': { type: 'string', default: '128' },
    'held-out': { type: 'boolean', default: false },
    phrasing: { type: 'string', default: 'known' },
    layout: { type: 'string' },
    memories: { type: 'string' },
  },
});

const level = CURRICULUM[Number(values.level)];
if (level === undefined) throw new RangeError(`--level ${values.level}: expected 0 to ${CURRICULUM.length - 1}`);
const options: DocumentOptions = {
  heldOut: values['held-out'],
  phrasing: values.phrasing === 'held-out' ? 'heldOut' : 'known',
  ...(values.layout === undefined ? {} : { layout: values.layout as TrainingLayout }),
  ...(values.memories === undefined ? {} : { memories: Number(values.memories) }),
};

const random = new SeededRandom(Number(values.seed));
const count = values.count === undefined ? Infinity : Number(values.count);
process.stdout.on('error', () => process.exit(0));
for (let made = 0; made < count; made++) {
  const record = values.pairs
    ? drawEmbeddingPairs(random, Number(values['pair-count']), options)
    : drawTrainingDocument(random, level, options);
  if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
}
