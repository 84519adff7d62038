import type { KnownLanguage } from '../../../base/language.ts';
import { product } from '../../../base/inner-product.ts';
import type { EmbeddingService } from '../../../models/embedding/embedding-service.ts';
import type { EmbedderProbe } from '../../../store/records/run-probes.ts';

/** Sentences that mean different things, whatever a model makes of case, marks and length. */
export const SENTENCES: Readonly<Record<KnownLanguage, readonly string[]>> = {
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

/** Two unit vectors that differ by less in every number are one. */
const MIN_DIFFERENCE = 1e-5;

function hasTwin(vectors: readonly Float32Array[], place: number): boolean {
  const own = vectors[place]!;
  const isSame = (one: Float32Array): boolean => one.every((value, at) => Math.abs(value - own[at]!) < MIN_DIFFERENCE);
  return vectors.some((vector, other) => other !== place && isSame(vector));
}

function findsItself(question: Float32Array, documents: readonly Float32Array[], place: number): boolean {
  const own = product(question, documents[place]!);
  return documents.every((document, other) => other === place || product(question, document) < own);
}

/**
 * Embeds sentences of these languages together as memories, and each by itself as a question: no two may have one vector, and a
 * question must be nearest to its own words. So an embedder that gives everything one vector, or a batch the vectors of other
 * texts, is found before a memory is retrieved by them. Vectors without a single negative number have lost their signs. The service's cache is empty afterwards.
 */
export async function probeEmbedder(
  embeddings: EmbeddingService,
  languages: readonly KnownLanguage[],
): Promise<EmbedderProbe> {
  const sentences = languages.flatMap((language) => SENTENCES[language]);
  embeddings.clear();
  const documents = await embeddings.embedMany(sentences, 'document');
  // What was embedded together must not answer for what is asked alone.
  embeddings.clear();
  const questions: Float32Array[] = [];
  for (const sentence of sentences) questions.push(await embeddings.embed(sentence, 'query'));
  embeddings.clear();
  return {
    sentences: sentences.length,
    shared: sentences.filter((_, place) => hasTwin(documents, place) || hasTwin(questions, place)),
    unsigned: [...documents, ...questions].every((vector) => vector.every((value) => value >= 0)),
    lost: sentences.filter((_, place) => !findsItself(questions[place]!, documents, place)),
  };
}
