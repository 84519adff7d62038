/**
 * Judges a sentence embedder on memories and questions that it was not trained on: `npx tsx scripts/models/evaluate-embedder.ts`.
 * Prints the table of its card and writes the same numbers to `quality.json` beside it.
 */
import { basename } from 'node:path';
import { presetModels } from '../../src/models/default-models.ts';
import { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/models/embedding/transformers-embedder.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { drawEmbeddingPairs, type PairLanguages } from '../train/documents/embedding-pairs.ts';
import type { PhrasingSide } from '../../src/data/generators/facts-and-relations.ts';
import { exactBackend } from '../../src/retrieval/vectors/vector-backends.ts';
import { qualityRow, writeQuality, type QualityRow } from './quality-rows.ts';
import { readOptions, runScript, wholeNumbers } from '../run-script.ts';

const MEMORIES_OF_A_USER = 1_000;
const TOP_K = 5;
const LANGUAGES: readonly (PairLanguages & { readonly words: string })[] = [
  { memories: 'en', questions: 'en', words: 'English' },
  { memories: 'zh', questions: 'zh', words: 'Chinese' },
  { memories: 'en', questions: 'zh', words: 'Chinese questions, English memories' },
  { memories: 'zh', questions: 'en', words: 'English questions, Chinese memories' },
];

async function foundAmong(
  embeddings: EmbeddingService,
  random: SeededRandom,
  languages: PairLanguages,
  phrasing: PhrasingSide,
): Promise<boolean[]> {
  const pairs = drawEmbeddingPairs(random, MEMORIES_OF_A_USER, { heldOut: true, phrasing, languages });
  const memories = await embeddings.embedMany(pairs.memories);
  const index = exactBackend.createIndex(memories[0]!.length);
  index.add(memories);
  const asked = await embeddings.embedMany(pairs.questions, 'query');
  return asked.map((question, own) => index.search(question, TOP_K).ids.includes(own));
}

await runScript(async () => {
  const values = readOptions({ embedder: presetModels.embedder, users: '2', seed: '1' });
  const { seed, users } = wholeNumbers(values, { seed: 0, users: 1 });
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(values.embedder));
  const rows: QualityRow[] = [];
  for (const phrasing of ['known', 'heldOut'] as const) {
    for (const { words, ...languages } of LANGUAGES) {
      const random = SeededRandom.ofPublished(seed);
      const found: boolean[] = [];
      for (let user = 0; user < users; user++) {
        found.push(...(await foundAmong(embeddings, random, languages, phrasing)));
      }
      const side = phrasing === 'known' ? '' : ', held-out phrasings';
      rows.push(qualityRow(`recall@${TOP_K} among ${MEMORIES_OF_A_USER}: ${words}${side}`, found));
    }
  }
  writeQuality(values.embedder, { embedder: basename(values.embedder), seed, users }, rows);
});
