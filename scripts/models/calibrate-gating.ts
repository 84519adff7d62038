/**
 * Calibrates the relevance threshold of the dual-factor gate for one embedder: `npx tsx scripts/models/calibrate-gating.ts`. Uses training
 * questions only, known values in known templates: the evaluation data has no part in it. The threshold is the score that
 * best separates questions whose memory is stored from those without one, halfway between the two neighbouring scores. It
 * is written to `card.json` in the embedder's folder.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { presetModels } from '../../src/models/default-models.ts';
import { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/models/embedding/transformers-embedder.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { drawEmbeddingPairs } from '../train/documents/embedding-pairs.ts';
import { exactBackend } from '../../src/retrieval/vectors/vector-backends.ts';
import { readOptions, runScript, wholeNumbers } from '../run-script.ts';

/** Memories of a user, as many as a large user of the shipped data set has, and as many questions without a memory. */
const MEMORIES_OF_A_USER = 40;

/** Best retrieval score of a question, and a flag for questions whose memory is stored. */
interface Sample {
  readonly best: number;
  readonly answerable: boolean;
}

async function samplesOf(embeddings: EmbeddingService, random: SeededRandom): Promise<Sample[]> {
  const pairs = drawEmbeddingPairs(random, 2 * MEMORIES_OF_A_USER, { heldOut: false, phrasing: 'known' });
  const memories = await embeddings.embedMany(pairs.memories.slice(0, MEMORIES_OF_A_USER));
  const stored = exactBackend.createIndex(memories[0]!.length);
  stored.add(memories);
  const questions = await embeddings.embedMany(pairs.questions, 'query');
  return questions.map((question, index) => ({
    best: stored.search(question, 1).scores[0]!,
    answerable: index < MEMORIES_OF_A_USER,
  }));
}

/** Finds the cut with the highest mean of the two shares of right decisions (Youden's index). */
function bestCut(samples: readonly Sample[]) {
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
  const values = readOptions({ embedder: presetModels.embedder, users: '25', seed: '7' });
  const { users, seed } = wholeNumbers(values, { users: 1, seed: 0 });
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
