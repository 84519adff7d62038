import type { ArmTraits } from '../records/arm-traits.ts';
import type { ArmResults, BreakEven, Comparison, RunResults } from '../records/results.ts';
import { primaryMetric, type ShownMetric } from './shown-metric.ts';
import { formatNumber } from './table.ts';
import { baselineOf } from './verdict.ts';

/** The arms of the headline, the first of a run that matches each: exact K/V, and K/V joined from single memories. */
const subjects: readonly { readonly name: string; readonly matches: (traits: ArmTraits) => boolean }[] = [
  { name: 'K/V injection', matches: ({ comparison }) => comparison === 'primary' },
  {
    name: 'K/V joined from single memories',
    matches: ({ comparison, injects }) => comparison === 'planned' && injects === 'memories',
  },
];

const percent = (share: number): string => `${formatNumber(share * 100, 1)} %`;

/** The share of the right answers of RAG that the arm answers right, too; the difference where nothing is right or wrong. */
function kept(rag: ArmResults, comparison: Comparison, primary: ShownMetric): string {
  const { n, wins, losses, verdict, delta, low, high } = comparison;
  if (verdict === 'identical') return `kept all of RAG's answers (bit by bit, on ${n} of ${n} items)`;
  if (primary.declared.kind === 'continuous') {
    const [mean, ...bounds] = [delta, low, high].map((value) => formatNumber(value * primary.scale, primary.digits));
    return `differed from RAG by ${mean!} ${primary.differenceUnit} of ${primary.label} [${bounds.join(', ')}]: ${verdict}`;
  }
  const right = Math.round((primary.of(rag.metrics)?.mean ?? 0) * n);
  if (right === 0) return 'found no right answer of RAG to keep';
  const share = percent((right - losses) / right);
  return `kept ${share} of RAG's right answers (lost ${losses} of ${right}, gained ${wins}: ${verdict})`;
}

/** `cut evaluated tokens by 81 % on cache hits` */
function saved(rag: ArmResults, arm: ArmResults): string {
  if (rag.tokens === null || arm.tokens === null || rag.tokens.evaluated === 0) {
    return 'had no cache hit to save tokens on';
  }
  const change = 1 - arm.tokens.evaluated / rag.tokens.evaluated;
  const verb = change < 0 ? 'raised' : 'cut';
  return `${verb} evaluated tokens by ${formatNumber(Math.abs(change) * 100, 0)} % on cache hits`;
}

/** `broke even at turn 3 [2, 5]` */
function brokeEven({ turn, low, high }: BreakEven): string {
  const bound = (value: number | null): string => (value === null ? 'never' : formatNumber(value, 0));
  const interval = `[${bound(low)}, ${bound(high)}]`;
  return turn === null ? `never broke even ${interval}` : `broke even at turn ${turn} ${interval}`;
}

/** Sorts the run of a suite before the others, which keep their order. */
function preferring(runs: readonly RunResults[], suite: string): RunResults[] {
  return [...runs].sort((a, b) => Number(b.run.suite === suite) - Number(a.run.suite === suite));
}

/**
 * The verdict in a sentence for exact and one for joined K/V: the answers of RAG that were kept, the tokens saved, the
 * break-even. Quality and tokens are from the suite `main`, the break-even from `latency`, if these are among the runs.
 * No sentence without the baseline and an arm that injects.
 */
export function headline(runs: readonly RunResults[]): string[] {
  return subjects.flatMap(({ name, matches }) => {
    for (const { arms, comparisons, run } of preferring(runs, 'main')) {
      const [rag, own] = [baselineOf(arms), arms.find(({ traits }) => matches(traits))];
      if (rag === undefined || own === undefined || rag.n === 0 || own.n === 0) continue;
      const { arm } = own;
      const primary = primaryMetric(run);
      const compared = comparisons.find(({ metric, a, b }) => metric === primary.name && a === arm && b === rag.arm);
      const breakEven = preferring(runs, 'latency').flatMap((one) => one.breakEven.filter((it) => it.arm === arm))[0];
      const clauses = [
        ...(compared === undefined || run.unknownQuality !== null ? [] : [kept(rag, compared, primary)]),
        saved(rag, own),
        ...(breakEven === undefined ? [] : [brokeEven(breakEven)]),
      ];
      return [`${name} (${arm}) ${clauses.join(', ')}.`];
    }
    return [];
  });
}
