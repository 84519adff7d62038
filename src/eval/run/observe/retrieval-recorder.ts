import type { RetrieveOptions, Retriever } from '../../../retrieval/retriever.ts';

export interface RecordedRetrieval {
  readonly query: string;
  readonly memoryIds: readonly string[];
  readonly ms: number;
}

export class RetrievalRecorder {
  readonly retriever: Retriever;
  last: RecordedRetrieval | undefined;

  constructor(retriever: Retriever) {
    this.retriever = new Proxy(retriever, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (name !== 'retrieve') return member.bind(target) as unknown;
        return async (query: string, options: RetrieveOptions) => {
          const start = performance.now();
          const found = await target.retrieve(query, options);
          const memoryIds = found.memories.map(({ memoryId }) => memoryId);
          this.last = { query, memoryIds, ms: performance.now() - start };
          return found;
        };
      },
    });
  }
}
