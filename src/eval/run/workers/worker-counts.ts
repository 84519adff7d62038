import type { WorkerCounts } from '../../../store/records/user-bundle.ts';

type Facts = Readonly<Record<string, unknown>>;

/** Of what retrievers and the embedding service say of themselves, that which counts; all else is the same of all workers. */
const RETRIEVER_COUNTS = [
  ...['memories', 'namespaces', 'entries', 'fallbacks', 'failures', 'strategies', 'answers', 'wouldBeFiltered'],
  ...['queryCache', 'embeddings'],
];
/** The only number of a KV store that is no count. */
const STORE_LIMITS = ['maxBytes'];

/** Counts of several workers, as one that had asked all users would have. */
export function addCounts(workers: readonly WorkerCounts[]): WorkerCounts {
  return {
    refusedCalls: added(workers.map(({ refusedCalls }) => refusedCalls)) as WorkerCounts['refusedCalls'],
    kvStores: added(workers.map(({ kvStores }) => kvStores)) as WorkerCounts['kvStores'],
    retriever: retrieverTogether(workers.map(({ retriever }) => retriever)),
  };
}

function retrieverTogether(all: readonly Facts[]): Facts {
  const [first = {}] = all;
  const warnings = [...new Set(all.flatMap(({ warnings: own = [] }) => own as readonly string[]))];
  const counts = Object.keys(first).filter((key) => RETRIEVER_COUNTS.includes(key));
  return {
    ...first,
    ...added(all.map((facts) => Object.fromEntries(counts.map((key) => [key, facts[key]])))),
    ...('warnings' in first ? { warnings } : {}),
  };
}

/** The sum of all numbers under each name, at any depth; of everything else the first. */
function added(all: readonly Facts[]): Facts {
  const [first, ...others] = all;
  if (others.length === 0) return first ?? {};
  const names = [...new Set(all.flatMap((facts) => Object.keys(facts)))];
  return Object.fromEntries(
    names.map((name) => {
      const values = all.map((facts) => facts[name]).filter((value) => value !== undefined);
      const [value] = values;
      if (STORE_LIMITS.includes(name)) return [name, value];
      if (typeof value === 'number') return [name, (values as number[]).reduce((sum, one) => sum + one, 0)];
      return [name, isFacts(value) ? added(values as Facts[]) : value];
    }),
  );
}

function isFacts(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
