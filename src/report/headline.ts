import { formatInterval, formatNumber } from '../render/format-number.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { ArmResults, Comparison, RunResults } from '../store/records/run-results.ts';
import { baselineArm, prefixCacheArm, findComparison } from './find-arms-and-comparisons.ts';
import { categoryDifferencesText, contrastSentences } from './category-contrast-sentences.ts';
import { plansContrast, primaryMetric } from './metric-display.ts';
import { breakEvenText } from './verdict-sentences.ts';

const subjects: readonly { readonly name: string; readonly matches: (traits: ArmTraits) => boolean }[] = [
  { name: 'KV injection', matches: ({ comparison }) => comparison === 'primary' },
  {
    name: 'KV joined from single memories',
    matches: ({ comparison, injects }) => comparison === 'planned' && injects === 'memories',
  },
];

/**
 * The share of RAG's right answers that the arm also gets right; for a continuous metric, the difference from RAG; if the data set
 * plans a contrast, the difference in each category.
 */
function keptText(run: RunResults['run'], rag: ArmResults, own: ArmResults, comparison: Comparison): string {
  const primary = primaryMetric(run);
  const { n, wins, losses, verdict, delta, low, high } = comparison;
  if (verdict === 'identical') return `kept all of RAG's answers (bit by bit, on ${n} of ${n} items)`;
  if (plansContrast(run)) {
    return `differed from RAG by category, exploratory, in points of task success: ${categoryDifferencesText(own)}`;
  }
  if (primary.declared.kind === 'continuous') {
    const { scale, digits, differenceUnit, label } = primary;
    const [mean, interval] = formatInterval([delta * scale, low * scale, high * scale], digits).split(/ (.*)/);
    return `differed from RAG by ${mean!} ${differenceUnit} of ${label} ${interval!}: ${verdict}`;
  }
  const right = Math.round((primary.of(rag.metrics)?.mean ?? 0) * n);
  if (right === 0) return 'kept nothing, since RAG had no right answer';
  const share = formatNumber(((right - losses) / right) * 100, 1);
  return `kept ${share} % of RAG's right answers (lost ${losses} of ${right}, gained ${wins}: ${verdict})`;
}

function changeText(own: number, other: number): string {
  const percent = formatNumber(Math.abs(own / other - 1) * 100, 0);
  return `${percent} % ${own < other ? 'fewer' : 'more'}`;
}

/** `evaluated 81 % fewer tokens than RAG on cache hits and 35 % fewer over all turns (against prefix caching: 19 % more and 4 % more)` */
function savingsText(rag: ArmResults, arm: ArmResults, cached: ArmResults | undefined): string {
  const evaluated = (one: ArmResults | undefined) => {
    const counts = [one?.tokens?.evaluated, one?.costAll?.tokens.evaluated];
    return counts.flatMap((count) => count ?? []);
  };
  const against = (other: ArmResults | undefined) => {
    const [own, others] = [evaluated(arm), evaluated(other)];
    if (own.length < 2 || others.length < 2) return undefined;
    return own.map((count, index) => changeText(count, others[index]!));
  };
  const [text, prefixes] = [against(rag), against(cached)];
  if (text === undefined) return 'had no cache hits';
  const beside = prefixes === undefined ? '' : ` (against prefix caching: ${prefixes.join(' and ')})`;
  return `evaluated ${text[0]!} tokens than RAG on cache hits and ${text[1]!} over all turns${beside}`;
}

const suiteFirst = (runs: readonly RunResults[], suite: string): RunResults[] =>
  runs.toSorted((a, b) => Number(b.run.suite === suite) - Number(a.run.suite === suite));

/**
 * The planned contrast, then one sentence each for exact and joined KV. Quality and tokens are those of suite `main` if it is there,
 * the break-even that of `latency`.
 */
export function headline(runs: readonly RunResults[]): string[] {
  const ofArms = subjects.flatMap(({ name, matches }) => {
    for (const results of suiteFirst(runs, 'main')) {
      const { arms, run } = results;
      const [rag, own] = [baselineArm(arms), arms.find(({ traits }) => matches(traits))];
      if (rag === undefined || own === undefined || rag.n === 0 || own.n === 0) continue;
      const compared = findComparison(results, own.arm, rag.arm, primaryMetric(run).name);
      const breakEven = suiteFirst(runs, 'latency')
        .map((one) => one.breakEven.filter(({ arm }) => arm === own.arm))
        .find(({ length }) => length > 0);
      const clauses = [
        ...(compared === undefined || run.unknownQuality !== null ? [] : [keptText(run, rag, own, compared)]),
        savingsText(rag, own, prefixCacheArm(arms)),
        ...(breakEven ?? []).map((one) => `broke even against ${one.against}: ${breakEvenText(one)}`),
      ];
      return [`${name} (${own.arm}) ${clauses.join(', ')}.`];
    }
    return [];
  });
  return [...runs.flatMap(contrastSentences), ...ofArms];
}
