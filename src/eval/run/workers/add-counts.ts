import type { WorkerCounts } from '../../../store/records/worker-result-bundle.ts';

type Facts = Readonly<Record<string, unknown>>;

/** Retriever statistics that are summed; all others are the same for all workers. */
const RETRIEVER_COUNTS =
  /^(memories|namespaces|entries|fallbacks|failures|strategies|answers|wouldBeFiltered|queryCache|embeddings)$/;

export function addCounts(workers: readonly WorkerCounts[]): WorkerCounts {
  const retrievers = workers.map(({ retriever }) => retriever);
  const [first = {}] = retrievers;
  const warnings = [...new Set(retrievers.flatMap(({ warnings: own = [] }) => own as readonly string[]))];
  const counts = retrievers.map((facts) =>
    Object.fromEntries(Object.entries(facts).filter(([name]) => RETRIEVER_COUNTS.test(name))),
  );
  return {
    refusedCalls: sumByName(workers.map(({ refusedCalls }) => refusedCalls)),
    kvStores: sumByName(workers.map(({ kvStores }) => kvStores)),
    retriever: { ...first, ...sumByName(counts), ...('warnings' in first ? { warnings } : {}) },
  };
}

/** Sums the numbers under each name, at any depth. Of other values, takes the first. */
export function sumByName<T extends Facts>(all: readonly T[]): T {
  const [first, ...others] = all;
  if (others.length === 0) return first ?? ({} as T);
  const names = [...new Set(all.flatMap((facts) => Object.keys(facts)))];
  return Object.fromEntries(
    names.map((name) => {
      const values = all.map((facts) => facts[name]).filter((value) => value !== undefined);
      const [value] = values;
      // The limit of a KV store is the same for all.
      if (name === 'maxBytes') return [name, value];
      if (typeof value === 'number') return [name, (values as number[]).reduce((sum, one) => sum + one, 0)];
      return [name, isFacts(value) ? sumByName(values as Facts[]) : value];
    }),
  ) as T;
}

function isFacts(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
