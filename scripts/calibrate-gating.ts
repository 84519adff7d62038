/**
 * Finds the relevance from which a memory is worth injecting, for one embedder: `npm run model:calibrate`.
 * Questions of the training side alone, known values in known phrasings: the evaluation data has no part in it.
 * The threshold is the best score that separates questions whose memory is stored from those about which nothing is,
 * halfway between the two neighbouring scores. It is written to `card.json` in the embedder's folder.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EmbeddingService } from '../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../src/embedding/transformers-embedder.ts';
import { SeededRandom } from '../src/eval/random.ts';
import { drawEmbeddingPairs } from '../src/eval/synthesis/embedding-pairs.ts';
import { runScript, wholeNumber } from './run-script.ts';

const SHIPPED_EMBEDDER = fileURLToPath(new URL('../models/embed-en-zh', import.meta.url));
/** As many as a large user of the shipped data set has; as many questions again are about nothing stored. */
const MEMORIES_OF_A_USER = 40;

/** The best score of the recall for a question, and whether its memory was there to be found. */
interface Sample {
  readonly best: number;
  readonly answerable: boolean;
}

function innerProduct(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

async function samplesOf(embeddings: EmbeddingService, random: SeededRandom): Promise<Sample[]> {
  const pairs = drawEmbeddingPairs(random, 2 * MEMORIES_OF_A_USER, { heldOut: false, phrasing: 'known' });
  const memories = await embeddings.embedMany(pairs.memories.slice(0, MEMORIES_OF_A_USER));
  const questions = await embeddings.embedMany(pairs.questions, 'query');
  return questions.map((question, index) => ({
    best: memories.reduce((best, memory) => Math.max(best, innerProduct(question, memory)), -1),
    answerable: index < MEMORIES_OF_A_USER,
  }));
}

/** The cut with the highest mean of the two shares that it gets right (Youden's index). */
function bestCut(samples: readonly Sample[]): {
  readonly threshold: number;
  readonly answerable: number;
  readonly absent: number;
} {
  const sorted = [...samples].sort((a, b) => a.best - b.best);
  const total = sorted.filter(({ answerable }) => answerable).length;
  let [absentBelow, answerableBelow] = [0, 0];
  let best = { threshold: -1, answerable: 1, absent: 0 };
  sorted.forEach(({ best: score, answerable }, index) => {
    if (answerable) answerableBelow++;
    else absentBelow++;
    const shares = { answerable: 1 - answerableBelow / total, absent: absentBelow / (sorted.length - total) };
    if (shares.answerable + shares.absent <= best.answerable + best.absent) return;
    best = { threshold: (score + (sorted[index + 1]?.best ?? score)) / 2, ...shares };
  });
  return best;
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      embedder: { type: 'string', default: SHIPPED_EMBEDDER },
      users: { type: 'string', default: '25' },
      seed: { type: 'string', default: '7' },
    },
  });
  const users = wholeNumber('users', values.users, 1);
  const seed = wholeNumber('seed', values.seed, 0);
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(values.embedder));
  const random = new SeededRandom(seed);
  const samples: Sample[] = [];
  for (let user = 0; user < users; user++) samples.push(...(await samplesOf(embeddings, random)));
  const { threshold, answerable, absent } = bestCut(samples);
  const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
  const card = {
    embedderSha256: (await embeddings.info()).sha256,
    gatingThreshold: rounded(threshold),
    calibration: {
      method: 'best separation of answerable from absent questions by the best score, training side',
      seed,
      users,
      memoriesOfAUser: MEMORIES_OF_A_USER,
      questions: samples.length,
      answerableAbove: rounded(answerable),
      absentBelow: rounded(absent),
    },
  };
  const path = join(values.embedder, 'card.json');
  writeFileSync(path, `${JSON.stringify(card, null, 2)}\n`);
  console.log(`${path}: inject above ${card.gatingThreshold}; ${JSON.stringify(card.calibration)}`);
});
