import { expect, test } from 'vitest';
import type { WorkerCounts } from '../../../store/records/worker-result-bundle.ts';
import { addCounts } from './add-counts.ts';

const first: WorkerCounts = {
  refusedCalls: { rag: 0, dki: 1 },
  kvStores: { dki: { hits: 3, maxBytes: 100, memory: { hits: 1, kind: 'l1' } } },
  retriever: {
    ...{ backend: 'faiss', topK: 5, memories: 20, embeddings: { texts: 8 }, warnings: ['no index'] },
    wouldBeFiltered: { admitted: 4, refused: 1 },
  },
};
const second: WorkerCounts = {
  refusedCalls: { rag: 2, dki: 0 },
  kvStores: { dki: { hits: 4, maxBytes: 100, memory: { hits: 2, kind: 'l1' } } },
  retriever: {
    ...{ backend: 'faiss', topK: 5, memories: 10, embeddings: { texts: 1 }, warnings: ['no index', 'slow'] },
    wouldBeFiltered: { admitted: 0, refused: 7 },
  },
};

test('adds counts, keeps settings, and lists each warning once', () => {
  expect(addCounts([first, second])).toEqual({
    refusedCalls: { rag: 2, dki: 1 },
    kvStores: { dki: { hits: 7, maxBytes: 100, memory: { hits: 3, kind: 'l1' } } },
    retriever: {
      ...{ backend: 'faiss', topK: 5, memories: 30, embeddings: { texts: 9 }, warnings: ['no index', 'slow'] },
      wouldBeFiltered: { admitted: 4, refused: 8 },
    },
  });
  expect(addCounts([first])).toEqual(first);
});
