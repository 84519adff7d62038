import type { RetrieveOptions, Retriever } from '../../../retrieval/retriever.ts';

/** A retrieval as it was asked for, and the time that it took. */
export interface AskedRetrieval {
  readonly query: string;
  /** The memories that it gave, best first. */
  readonly memoryIds: readonly string[];
  readonly ms: number;
}

/** Stands in front of the retriever of a run, and remembers what it was asked last. */
export class AskedRetriever {
  readonly retriever: Retriever;
  /** Undefined before the first call. */
  last: AskedRetrieval | undefined;

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
