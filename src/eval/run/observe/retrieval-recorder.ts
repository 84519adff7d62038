import type { RetrieveOptions, Retriever } from '../../../retrieval/retriever.ts';

export interface RecordedRetrieval {
  readonly query: string;
  readonly memoryIds: readonly string[];
  readonly ms: number;
}

/** A retriever that behaves like the given one, and the last retrieval from it. */
export function retrievalRecorder(given: Retriever) {
  const retriever = new Proxy(given, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'retrieve') return member.bind(target) as unknown;
      return async (query: string, options: RetrieveOptions) => {
        const start = performance.now();
        const found = await target.retrieve(query, options);
        const memoryIds = found.memories.map(({ memoryId }) => memoryId);
        recorder.last = { query, memoryIds, ms: performance.now() - start };
        return found;
      };
    },
  });
  const recorder: { readonly retriever: Retriever; last?: RecordedRetrieval } = { retriever };
  return recorder;
}
