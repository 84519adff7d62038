/**
 * A retriever of one's own: memories that share the most words with the question, among equals the newest. All arms of the run get
 * what it retrieves. `npx tsx examples/own-retriever.ts`
 */
import {
  loadBenchConfig,
  type NewMemory,
  type Retrieval,
  type RetrieveOptions,
  type Retriever,
  runBench,
} from 'dki-bench';

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}+/gu));

class RetrieverByWords implements Retriever {
  readonly name = 'by-words';
  #memories: NewMemory[] = [];

  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    for (const { memoryId, userId } of memories) await this.removeMemory(memoryId, userId);
    this.#memories.push(...memories);
    return memories.length;
  }

  removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    const others = this.#memories.filter((memory) => memory.memoryId !== memoryId || memory.userId !== userId);
    const isFound = others.length < this.#memories.length;
    this.#memories = others;
    return Promise.resolve(isFound);
  }

  retrieve(query: string, { userId, topK }: RetrieveOptions): Promise<Retrieval> {
    const start = performance.now();
    const asked = wordsOf(query);
    const own = this.#memories.filter((memory) => memory.userId === userId).toReversed();
    const scored = own.map(({ memoryId, content, metadata = {} }) => {
      const score = [...wordsOf(content)].filter((word) => asked.has(word)).length;
      return { memoryId, content, score, metadata: { ...metadata, userId } };
    });
    const memories = asked.size === 0 ? [] : scored.toSorted((a, b) => b.score - a.score).slice(0, topK);
    const timingsMs = { embedding: 0, search: performance.now() - start, ranking: 0 };
    return Promise.resolve({ strategy: this.name, memories, timingsMs, flags: [], details: {} });
  }

  reset = (): Promise<void> => Promise.resolve();
  stats = () => ({ memories: this.#memories.length });
  close = (): Promise<void> => Promise.resolve();
}

const config = loadBenchConfig({ flags: { dataset: 'recall-en', limit: '10', arms: 'rag,dki' } });
const retriever = { name: 'by-words', open: () => new RetrieverByWords() };
const hooks = { retriever, onNote: (note: string) => console.log(note) };
const [results] = await runBench(config, hooks);

for (const { arm, metrics, funnel } of results!.arms) console.log(arm, metrics.exactMatch?.mean, funnel);
console.log(results!.run.retriever.name, results!.checks.find(({ check }) => check === 'retrieval')!.status);
