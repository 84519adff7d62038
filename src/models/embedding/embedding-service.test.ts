import { beforeEach, expect, test } from 'vitest';
import { replacing } from '../../../test/fixtures/replacing.ts';
import { presetModels } from '../default-models.ts';
import type { Embedder } from './embedder.ts';
import { EmbeddingService } from './embedding-service.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

let opened: number;
let asked: string[];
async function open(): Promise<Embedder> {
  opened++;
  const embedder = await TransformersEmbedder.open(presetModels.embedder);
  return replacing<Embedder>(embedder, {
    embed: (texts) => {
      asked.push(...texts);
      return embedder.embed(texts);
    },
  });
}
beforeEach(() => {
  opened = 0;
  asked = [];
});

test('gives unit vectors, the same alone and in a batch', async () => {
  const texts = ['I like tea.', 'My sister Ann moved to Leeds in May.'];
  const batch = await new EmbeddingService(open).embedMany(texts);
  const single = new EmbeddingService(open);
  for (const [i, text] of texts.entries()) {
    expect(Math.hypot(...batch[i]!)).toBeCloseTo(1, 6);
    expect(await single.embed(text)).toEqual(batch[i]);
  }
  expect(await single.dimension()).toBe(batch[0]!.length);
});

test('embeds each different text once and counts the rest as hits', async () => {
  const embeddings = new EmbeddingService(open);
  const [first, , third] = await embeddings.embedMany(['tea', 'coffee', 'tea']);
  expect(first).toEqual(third);
  // A caller may write into its vector.
  const before = first!.slice();
  first!.fill(0);
  expect([third, await embeddings.embed('tea')]).toEqual([before, before]);
  await embeddings.embedMany(['coffee', 'milk']);
  expect(asked).toEqual(['tea', 'coffee', 'milk']);
  expect(embeddings.stats()).toMatchObject({ texts: 6, cacheHits: 3, cachedTexts: 3 });
  embeddings.clear();
  await embeddings.embed('tea');
  expect(asked).toEqual(['tea', 'coffee', 'milk', 'tea']);
});

test('drops the least recently used vectors', async () => {
  const embeddings = new EmbeddingService(open, { maxCachedTexts: 2 });
  await embeddings.embedMany(['tea', 'coffee']);
  await embeddings.embed('tea');
  await embeddings.embed('milk');
  asked = [];
  await embeddings.embedMany(['tea', 'coffee']);
  expect(asked).toEqual(['coffee']);
  expect(embeddings.stats().cachedTexts).toBe(2);
});

test('a text without content is similar to nothing and needs no call of the model', async () => {
  const embeddings = new EmbeddingService(open);
  const vectors = await embeddings.embedMany(['', ' \n\t']);
  for (const vector of vectors) expect(vector).toEqual(new Float32Array(await embeddings.dimension()));
  expect(asked).toEqual([]);
});

test('loads the model once, at the first use, and again after a failure', async () => {
  const embeddings = new EmbeddingService(open);
  expect(opened).toBe(0);
  await Promise.all([embeddings.embed('tea'), embeddings.embed('coffee'), embeddings.info()]);
  expect(opened).toBe(1);

  let mended = false;
  const unlucky = new EmbeddingService(() => (mended ? open() : TransformersEmbedder.open('nowhere')));
  await expect(unlucky.embed('tea')).rejects.toThrow('does not exist');
  mended = true;
  expect(await unlucky.embed('tea')).toEqual(await embeddings.embed('tea'));
});

test('refuses vectors with NaN', async () => {
  const embed = () => Promise.resolve([new Float32Array([NaN, 1])]);
  const embeddings = new EmbeddingService(async () => replacing(await open(), { embed }));
  await expect(embeddings.embed('tea')).rejects.toMatchObject({ code: 'bad-model' });
});
