import type { KnownLanguage } from '../../../base/language.ts';
import { innerProduct } from '../../../base/inner-product.ts';
import type { EmbeddingService } from '../../../models/embedding/embedding-service.ts';
import type { EmbedderProbe, RetrieverProbe } from '../../../store/records/run-probes.ts';
import type { Retriever } from '../../../retrieval/retriever.ts';

/** Sentences with clearly different meanings. */
const SENTENCES: Readonly<Record<KnownLanguage, readonly string[]>> = {
  en: [
    'My dog is called Brenko.',
    'I moved to Leeds last spring.',
    'My sister works as a software engineer.',
    'The meeting begins at half past four.',
    'The spare key lies under the oak table.',
    'I drink green tea every morning.',
    'We play the violin together on Sundays.',
    'My passport expires next year.',
  ],
  zh: [
    '我的狗叫布伦科。',
    '去年春天我搬到了上海。',
    '我姐姐是软件工程师。',
    '会议下午四点半开始。',
    '备用钥匙在橡木桌子下面。',
    '我每天早上喝绿茶。',
    '我们星期天一起拉小提琴。',
    '我的护照明年到期。',
  ],
};

/** Unit vectors that differ by less than this in every number count as equal. */
const MIN_DIFFERENCE = 1e-5;

function hasTwin(vectors: readonly Float32Array[], place: number): boolean {
  const own = vectors[place]!;
  const isSame = (one: Float32Array): boolean => one.every((value, at) => Math.abs(value - own[at]!) < MIN_DIFFERENCE);
  return vectors.some((vector, other) => other !== place && isSame(vector));
}

/** True if the document at `place` is nearest to a question, but for the one at `ignored`. */
function isNearest(question: Float32Array, documents: readonly Float32Array[], place: number, ignored = place) {
  const own = innerProduct(question, documents[place]!);
  return documents.every((one, at) => at === place || at === ignored || innerProduct(question, one) < own);
}

async function embedOneByOne(embeddings: EmbeddingService, questions: readonly string[]): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (const question of questions) vectors.push(await embeddings.embed(question, 'query'));
  return vectors;
}

/**
 * Embeds sentences together as memories, and one by one as questions. No two may have equal vectors, each question must be
 * nearest to its own sentence, and some number must be negative. Empties the cache of the service.
 */
export async function probeEmbedder(
  embeddings: EmbeddingService,
  languages: readonly KnownLanguage[],
): Promise<EmbedderProbe> {
  const sentences = languages.flatMap((language) => SENTENCES[language]);
  embeddings.clear();
  const documents = await embeddings.embedMany(sentences, 'document');
  // Vectors of the batch must not be reused for questions embedded one by one.
  embeddings.clear();
  const questions = await embedOneByOne(embeddings, sentences);
  embeddings.clear();
  return {
    sentences: sentences.length,
    shared: sentences.filter((_, place) => hasTwin(documents, place) || hasTwin(questions, place)),
    unsigned: [...documents, ...questions].every((vector) => vector.every((value) => value >= 0)),
    lost: sentences.filter((_, place) => !isNearest(questions[place]!, documents, place)),
  };
}

/** A sentence with a few more words: closer to the original than any other sentence, but not equal. */
const LONGER: Readonly<Record<KnownLanguage, (sentence: string) => string>> = {
  en: (sentence) => `${sentence.replace(/\.$/, '')}, as I said before.`,
  zh: (sentence) => `${sentence.replace(/。$/, '')}，我以前说过。`,
};

const USER = 'retriever probe';
const OTHER = 'another user of the retriever probe';
const TOP_K = 3;
/** Memories newer than the planted ones, newest first: as many as `tiered` returns for any question. */
const recentIds = Array.from({ length: 10 }, (_, age) => `recent-${age}`);

/** What a strategy returns first for the sentence at `place`, and the list of passages that `given` is given. */
function expectation(strategy: string, place: number, sentences: number) {
  const nearest = [`exact-${place}`, `longer-${place}`];
  if (strategy === 'tiered') return { ids: [...recentIds, ...nearest] };
  if (strategy !== 'given') return { ids: nearest };
  const next = (place + 1) % sentences;
  const passages = [`longer-${place}`, `exact-${next}`, `exact-${place}`, `longer-${next}`];
  return { ids: passages.slice(0, TOP_K), passages };
}

/**
 * The sentences whose longer form is nearer to them than any other planted text, by the embedder's own vectors. An embedder for
 * English alone does not tell Chinese sentences apart, which is no fault of the retriever.
 */
async function tellApart(embeddings: EmbeddingService, sentences: readonly string[], longer: readonly string[]) {
  const documents = await embeddings.embedMany([...sentences, ...longer], 'document');
  const questions = await embedOneByOne(embeddings, sentences);
  const isSecond = (place: number): boolean => isNearest(questions[place]!, documents, sentences.length + place, place);
  return new Set([...sentences.keys()].filter(isSecond));
}

/**
 * Adds memories and queries those that the embedder tells apart: each must come first and its longer form second. `tiered` puts the
 * newest memories before them, and `given` must keep the order of its list. No strategy may return a memory of another user.
 */
export async function probeRetriever(
  open: () => Promise<Retriever>,
  embeddings: EmbeddingService,
  languages: readonly KnownLanguage[],
): Promise<RetrieverProbe> {
  embeddings.clear();
  const retriever = await open();
  const { name } = retriever;
  const wrong: string[] = [];
  const sentences = languages.flatMap((language) => SENTENCES[language]);
  const longer = languages.flatMap((language) => SENTENCES[language].map(LONGER[language]));
  try {
    const asked = name === 'given' ? new Set(sentences.keys()) : await tellApart(embeddings, sentences, longer);
    embeddings.clear();
    const memory = (memoryId: string, content: string, createdAt = '2026-01-01T00:00:00Z') => ({
      ...{ memoryId, content, userId: USER },
      metadata: { createdAt, preference: false },
    });
    const planted = sentences.flatMap((content, place) => [
      memory(`exact-${place}`, content),
      memory(`longer-${place}`, longer[place]!),
    ]);
    const recent = (name === 'tiered' ? recentIds : []).map((memoryId, age) =>
      memory(memoryId, `Note ${age}.`, `2026-02-${20 - age}T00:00:00Z`),
    );
    // Not in the order in which they must come back.
    await retriever.addMemories([...planted, ...recent].toReversed());
    const others = sentences.map((content, place) => memory(`other-${place}`, content));
    await retriever.addMemories(others.map((other) => ({ ...other, userId: OTHER })));
    const options = { userId: USER, topK: TOP_K, threshold: -1, now: new Date('2026-06-01T00:00:00Z') };
    for (const place of asked) {
      const text = sentences[place]!;
      // `salience` prefers what earlier questions returned.
      await retriever.reset();
      const { ids, ...passages } = expectation(name, place, sentences.length);
      const { memories } = await retriever.retrieve(text, { ...options, ...passages });
      const isRight = ids.every((id, rank) => memories[rank]?.memoryId === id);
      if (!isRight || memories.some(({ memoryId }) => memoryId.startsWith('other-'))) {
        wrong.push(`${JSON.stringify(text)} gets ${memories.map(({ content }) => JSON.stringify(content)).join(', ')}`);
      }
    }
    return { questions: asked.size, wrong };
  } finally {
    await retriever.close();
    embeddings.clear();
  }
}
