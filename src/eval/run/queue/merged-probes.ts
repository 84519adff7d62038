import { auditSum, type RunProbes } from '../../../store/records/run-probes.ts';
import { withBooks } from '../run-findings.ts';
import { addRereadCounts } from '../prove/reread-data.ts';
import { addCounts } from '../workers/count-totals.ts';

type Profile = RunProbes['profile'];

/** The one with the most faults; the first of equal ones. */
function worst<T>(all: readonly T[], wrong: (one: T) => number): T {
  return all.reduce((found, one) => (wrong(one) > wrong(found) ? one : found));
}

function wrongCells({ cells }: RunProbes): number {
  if (cells === undefined || 'missing' in cells) return Infinity;
  const { oneBlock } = cells;
  return oneBlock === null || oneBlock.bitwiseEqual ? 0 : oneBlock.largestDifference;
}

function wrongIsolation({ isolation }: RunProbes): number {
  const leaks = (isolation?.arms ?? []).map(({ strangers, doubles, atOnce, reopened, owners }) => {
    const { leaks = 0, lost = 0 } = atOnce ?? {};
    const reopenedFaults = (reopened?.leaks ?? 0) + (reopened?.reused ?? 0);
    const unheard = 1 - owners.right / Math.max(1, owners.answers);
    return strangers.leaks + doubles.reused + leaks + lost + reopenedFaults + unheard;
  });
  return isolation === null ? Infinity : Math.max(0, ...leaks);
}

function together(profiles: readonly Profile[]): Profile {
  const [first, ...others] = profiles;
  return others.reduce((sum, { wallMs, coldStartMs, modelMs, embedderMs, spent, evaluatedTokens = null }) => {
    const booked = spent === undefined ? sum : withBooks(sum, { spent, evaluatedTokens, modelMs, embedderMs });
    return { ...booked, wallMs: sum.wallMs + wallMs, coldStartMs: Math.max(sum.coldStartMs, coldStartMs) };
  }, first!);
}

/** Merges the findings of shards; of tests that each shard made, the worst counts. */
export function mergedProbes(all: readonly RunProbes[], notes: readonly string[]): RunProbes {
  const [first] = all;
  const cells = worst(all, wrongCells).cells;
  const audits = all.flatMap(({ audit }) => audit ?? []);
  const embedder = worst(all, (probes) => (probes.embedder?.shared.length ?? 0) + (probes.embedder?.lost.length ?? 0));
  const rereads = all.flatMap(({ reread }) => reread ?? []);
  const retriever = worst(all, ({ retrieverProbe }) => retrieverProbe?.wrong.length ?? 0).retrieverProbe;
  const load = worst(all, (probes) => (probes.load?.average ?? 0) / (probes.load?.cores ?? 1)).load;
  return {
    ...first!,
    parity: worst(all, ({ parity }) => (parity.bitwiseEqual ? 0 : 1 + parity.largestDifference)).parity,
    ...(cells === undefined ? {} : { cells }),
    metrics: worst(all, ({ metrics }) => Number(metrics.status !== 'passed')).metrics,
    ...(embedder.embedder === undefined ? {} : { embedder: embedder.embedder }),
    isolation: worst(all, wrongIsolation).isolation,
    ...addCounts(all.map(({ refusedCalls = {}, kvStores, retriever = {} }) => ({ refusedCalls, kvStores, retriever }))),
    ...(rereads.length === 0 ? {} : { reread: rereads.reduce(addRereadCounts) }),
    ...(retriever === undefined ? {} : { retrieverProbe: retriever }),
    ...(load === undefined ? {} : { load }),
    ...(audits.length === 0 ? {} : { audit: audits.reduce(auditSum) }),
    notes: [...new Set([...all.flatMap((probes) => probes.notes), ...notes])],
    profile: together(all.map(({ profile }) => profile)),
  };
}
