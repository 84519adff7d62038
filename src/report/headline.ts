import { comparisonOf } from './comparison-of.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { ArmResults, BreakEven, Comparison, RunResults } from '../store/records/results.ts';
import { primaryMetric, type ShownMetric } from './shown-metric.ts';
import { formatNumber } from '../render/table.ts';
import { baselineOf, prefixCacheIn } from './verdict.ts';
import { breakEvenText } from './savings-text.ts';

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

/** `81 % fewer`, `4 % more`, `as many` */
function change(own: number, other: number): string {
  const percent = formatNumber(Math.abs(own / other - 1) * 100, 0);
  if (percent === '0') return 'as many';
  return `${percent} % ${own < other ? 'fewer' : 'more'}`;
}

/** `evaluated 81 % fewer tokens than RAG on cache hits and 35 % fewer over all turns (than prefix caching 19 % more and 4 % more)` */
function saved(rag: ArmResults, arm: ArmResults, cached: ArmResults | undefined): string {
  const against = (other: ArmResults): readonly [string, string] | undefined =>
    other.tokens === null || arm.tokens === null || other.costAll === null || arm.costAll === null
      ? undefined
      : [
          change(arm.tokens.evaluated, other.tokens.evaluated),
          change(arm.costAll.tokens.evaluated, other.costAll.tokens.evaluated),
        ];
  const [text, prefixes] = [against(rag), cached === undefined ? undefined : against(cached)];
  if (text === undefined) return 'had no cache hit to save tokens on';
  const beside = prefixes === undefined ? '' : ` (than prefix caching ${prefixes[0]} and ${prefixes[1]})`;
  return `evaluated ${text[0]} tokens than RAG on cache hits and ${text[1]} over all turns${beside}`;
}

/** `broke even against rag at turn 3 [2, 5]` */
function brokeEven(one: BreakEven): string {
  return `broke even against ${one.against}: ${breakEvenText(one)}`;
}

/** Sorts the run of a suite before the others, which keep their order. */
function preferring(runs: readonly RunResults[], suite: string): RunResults[] {
  return [...runs].sort((a, b) => Number(b.run.suite === suite) - Number(a.run.suite === suite));
}

/**
 * The verdict in a sentence for exact and one for joined K/V: the answers of RAG that were kept, the tokens saved against text
 * and against prefix caching, the break-even with both. Quality and tokens are from the suite `main`, the break-even from `latency`, if these are among the runs.
 * No sentence without the baseline and an arm that injects.
 */
export function headline(runs: readonly RunResults[]): string[] {
  return subjects.flatMap(({ name, matches }) => {
    for (const results of preferring(runs, 'main')) {
      const { arms, run } = results;
      const [rag, own] = [baselineOf(arms), arms.find(({ traits }) => matches(traits))];
      if (rag === undefined || own === undefined || rag.n === 0 || own.n === 0) continue;
      const { arm } = own;
      const primary = primaryMetric(run);
      const compared = comparisonOf(results, arm, rag.arm, primary.name);
      const breakEven = preferring(runs, 'latency')
        .map((one) => one.breakEven.filter((it) => it.arm === arm))
        .find(({ length }) => length > 0);
      const clauses = [
        ...(compared === undefined || run.unknownQuality !== null ? [] : [kept(rag, compared, primary)]),
        saved(rag, own, prefixCacheIn(arms)),
        ...(breakEven ?? []).map(brokeEven),
      ];
      return [`${name} (${arm}) ${clauses.join(', ')}.`];
    }
    return [];
  });
}
