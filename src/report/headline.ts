import type { ArmResults, BreakEven, Comparison, RunResults } from '../eval/results.ts';
import { formatNumber } from './table.ts';

const reference = 'rag';

/** The arms that the headline is about: exact K/V, and K/V joined from single memories. */
const subjects = [
  { arm: 'dki', name: 'K/V injection' },
  { arm: 'dki-blocks', name: 'K/V joined from single memories' },
] as const;

const percent = (share: number): string => `${formatNumber(share * 100, 1)} %`;

/** Of the answers that RAG gave right, those that the arm gave right too. */
function kept(rag: ArmResults, comparison: Comparison): string {
  const { n, wins, losses, verdict } = comparison;
  if (verdict === 'identical') return `kept all of RAG's answers (bit by bit, on ${n} of ${n} items)`;
  const right = Math.round((rag.metrics.exactMatch?.mean ?? 0) * n);
  if (right === 0) return 'found no right answer of RAG to keep';
  const share = percent((right - losses) / right);
  return `kept ${share} of RAG's right answers (lost ${losses} of ${right}, gained ${wins}: ${verdict})`;
}

/** `cut evaluated tokens by 81 %` */
function saved(rag: ArmResults, arm: ArmResults): string {
  if (rag.tokens === null || arm.tokens === null || rag.tokens.evaluated === 0) return 'had no seen turn to save on';
  const change = 1 - arm.tokens.evaluated / rag.tokens.evaluated;
  const verb = change < 0 ? 'raised' : 'cut';
  return `${verb} evaluated tokens by ${formatNumber(Math.abs(change) * 100, 0)} % on seen turns`;
}

/** `broke even at turn 3 [2, 5]` */
function brokeEven({ turn, low, high }: BreakEven): string {
  const bound = (value: number | null): string => (value === null ? 'never' : formatNumber(value, 0));
  const interval = `[${bound(low)}, ${bound(high)}]`;
  return turn === null ? `never broke even ${interval}` : `broke even at turn ${turn} ${interval}`;
}

/** The run of that suite first, then the others as they come. */
function preferring(runs: readonly RunResults[], suite: string): RunResults[] {
  return [...runs].sort((a, b) => Number(b.run.suite === suite) - Number(a.run.suite === suite));
}

/**
 * The verdict in words, a sentence for exact and one for joined K/V: what it kept of RAG's answers, what it saved, when it
 * broke even. Quality and tokens are those of `main`, the break-even is that of `latency`, where these are among the runs.
 * None without `rag` and an arm that injects.
 */
export function headline(runs: readonly RunResults[]): string[] {
  return subjects.flatMap(({ arm, name }) => {
    for (const { arms, comparisons, run } of preferring(runs, 'main')) {
      const [rag, own] = [reference, arm].map((wanted) => arms.find((one) => one.arm === wanted));
      if (rag === undefined || own === undefined || rag.n === 0 || own.n === 0) continue;
      const compared = comparisons.find(({ metric, a, b }) => metric === 'exactMatch' && a === arm && b === reference);
      const breakEven = preferring(runs, 'latency').flatMap((one) => one.breakEven.filter((it) => it.arm === arm))[0];
      const clauses = [
        ...(compared === undefined || run.unknownQuality !== null ? [] : [kept(rag, compared)]),
        saved(rag, own),
        ...(breakEven === undefined ? [] : [brokeEven(breakEven)]),
      ];
      return [`${name} (${arm}) ${clauses.join(', ')}.`];
    }
    return [];
  });
}
