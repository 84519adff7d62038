/**
 * Compares the vectors of a converted embedder with those of the engine that its weights come from:
 * `npx tsx scripts/models/compare-vectors.ts FOLDER`, which holds `own-vectors.json`. Exits with 1 where one differs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/models/embedding/transformers-embedder.ts';

const MIN_COSINE = 0.97;

const folder = process.argv[2] ?? '.';
const { texts, vectors } = z
  .object({ texts: z.array(z.string()), vectors: z.array(z.array(z.number())) })
  .parse(JSON.parse(readFileSync(join(folder, 'own-vectors.json'), 'utf8')));
const service = new EmbeddingService(() => TransformersEmbedder.open(folder));
for (const [index, converted] of (await service.embedMany(texts)).entries()) {
  const cosine = converted.reduce((sum, value, at) => sum + value * vectors[index]![at]!, 0);
  console.log(`${cosine.toFixed(4)}  ${texts[index]}`);
  if (!(cosine >= MIN_COSINE)) process.exitCode = 1;
}
