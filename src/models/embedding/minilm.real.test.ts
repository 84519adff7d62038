import { basename, dirname } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeReal } from '../../../test/fixtures/real-models.ts';
import { fetchEmbedder } from './fetch-embedder.ts';
import { EmbeddingService } from './embedding-service.ts';
import { onnxRuntimeNames } from './onnx-session.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const pairs = [
  ['My dentist is called Dr. Dubois.', 'Who looks after my teeth?'],
  ['I adopted a puppy from the shelter.', 'Do I own any pets?'],
  ['My rent went up by fifty euros.', 'How much does my flat cost me?'],
  ['We are flying to Lisbon in June.', 'Where do I spend the summer holidays?'],
  ['Nuts give me a rash.', 'What food am I allergic to?'],
] as const;

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

describeReal('the embedder minilm', ['minilm'], () => {
  let folder: string;
  beforeAll(async () => {
    folder = await fetchEmbedder('minilm');
  });

  const opened = (runtime: string) => new EmbeddingService(() => TransformersEmbedder.open(folder, runtime));

  it.each(onnxRuntimeNames)('finds each statement by a question in other words, in %s', async (runtime) => {
    const embeddings = opened(runtime);
    const statements = await embeddings.embedMany(pairs.map(([statement]) => statement));
    const asked = pairs.map(([, question]) => question);
    const questions = await embeddings.embedMany(asked, 'query');
    expect(await embeddings.info()).toMatchObject({ name: 'minilm', dimension: 384 });
    for (const [own, question] of questions.entries()) {
      const cosines = statements.map((statement) => cosine(statement, question));
      expect(cosines.indexOf(Math.max(...cosines)), asked[own]).toBe(own);
    }
  });

  it('gives the same vectors in both runtimes and by the pipeline of its authors, up to rounding', async () => {
    const texts = pairs.flat();
    const [native, web] = await Promise.all(onnxRuntimeNames.map((runtime) => opened(runtime).embedMany(texts)));
    const { env, pipeline } = await import('@xenova/transformers');
    env.allowRemoteModels = false;
    env.localModelPath = dirname(folder);
    const reference = await pipeline('feature-extraction', basename(folder), { dtype: 'fp32' });
    for (const [i, text] of texts.entries()) {
      const { data } = await reference(text, { pooling: 'mean', normalize: true });
      expect(cosine(native![i]!, data as Float32Array)).toBeGreaterThan(1 - 1e-6);
      expect(cosine(web![i]!, native![i]!)).toBeGreaterThan(1 - 1e-6);
    }
  });
});
