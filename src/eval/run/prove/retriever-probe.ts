import type { KnownLanguage } from '../../../base/language.ts';
import type { EmbeddingService } from '../../../models/embedding/embedding-service.ts';
import type { Retriever } from '../../../retrieval/retriever.ts';
import type { RetrieverProbe } from '../../../store/records/run-probes.ts';
import { SENTENCES } from './embedder-probe.ts';

/** A sentence with a few words more: nearer to it than any other sentence is, and not as near as itself. */
const LONGER: Readonly<Record<KnownLanguage, (sentence: string) => string>> = {
  en: (sentence) => `${sentence.replace(/\.$/, '')}, as I said before.`,
  zh: (sentence) => `${sentence.replace(/。$/, '')}，我以前说过。`,
};

const USER = 'retriever probe';
const OTHER = 'another user of the retriever probe';

/** Plants memories and asks for each: it must come first, its longer form second, and none of another user at all. */
export async function probeRetriever(
  open: () => Promise<Retriever>,
  embeddings: EmbeddingService,
  languages: readonly KnownLanguage[],
): Promise<RetrieverProbe> {
  embeddings.clear();
  const retriever = await open();
  const wrong: string[] = [];
  const sentences = languages.flatMap((language) => SENTENCES[language].map((text) => ({ text, language })));
  try {
    const planted = sentences.flatMap(({ text, language }, place) => [
      { memoryId: `exact-${place}`, content: text },
      { memoryId: `longer-${place}`, content: LONGER[language](text) },
    ]);
    const metadata = { createdAt: '2026-01-01T00:00:00Z', preference: false };
    // Not in the order in which they must come back.
    const shuffled = planted.toReversed();
    await retriever.addMemories(shuffled.map((memory) => ({ ...memory, metadata, userId: USER })));
    await retriever.addMemories(
      sentences.map(({ text }, place) => ({ memoryId: `other-${place}`, content: text, metadata, userId: OTHER })),
    );
    const options = { userId: USER, topK: 3, threshold: -1, now: new Date('2026-06-01T00:00:00Z') };
    for (const [place, { text }] of sentences.entries()) {
      const { memories } = await retriever.retrieve(text, options);
      const ids = memories.map(({ memoryId }) => memoryId);
      const isRight = ids[0] === `exact-${place}` && ids[1] === `longer-${place}`;
      if (!isRight || ids.some((id) => id.startsWith('other-'))) {
        wrong.push(`${JSON.stringify(text)} gets ${memories.map(({ content }) => JSON.stringify(content)).join(', ')}`);
      }
    }
  } finally {
    await retriever.close();
    embeddings.clear();
  }
  return { questions: sentences.length, wrong };
}
