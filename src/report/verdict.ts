import type { ArmResults, Comparison, RunResults } from '../eval/results.ts';
import { formatNumber, lackOfProof } from './table.ts';

const reference = 'rag';
const points = (share: number) => formatNumber(share * 100, 1);
const interval = ({ low, high }: Comparison) => `[${points(low)}, ${points(high)}]`;

/** What exact match decided for the arms of the family named beforehand; controls and bounds are no contenders. */
function qualitySentences(comparisons: readonly Comparison[]): string[] {
  const quality = comparisons.filter(
    ({ metric, b, pAdjusted }) => metric === 'exactMatch' && b === reference && pAdjusted !== null,
  );
  const of = (verdict: Comparison['verdict']) => quality.filter((comparison) => comparison.verdict === verdict);
  const list = (compared: readonly Comparison[], detail: (comparison: Comparison) => string) =>
    compared.map((comparison) => `${comparison.a} ${detail(comparison)}`).join(', ');
  const difference = (comparison: Comparison) => `(${points(comparison.delta)} points ${interval(comparison)})`;

  const clauses: string[] = [];
  const identical = of('identical');
  if (identical.length > 0) {
    clauses.push(`bit-identical to rag: ${list(identical, ({ n }) => `on ${n} of ${n} items`)}`);
  }
  if (of('kept').length > 0) clauses.push(`kept rag's answers within the margin: ${list(of('kept'), difference)}`);
  if (of('lost').length > 0) clauses.push(`lost answers: ${list(of('lost'), difference)}`);
  const undecided = of('undecided');
  if (undecided.length > 0) {
    const needs = ({ neededItems }: Comparison) => (neededItems === undefined ? '' : `, needs ${neededItems} items`);
    clauses.push(
      `undecided: ${list(undecided, (comparison) => difference(comparison).replace(/\)$/, `${needs(comparison)})`))}`,
    );
  }
  if (clauses.length === 0) return [];
  const text = clauses.join('; ');
  return [`${text[0]!.toUpperCase()}${text.slice(1)}.`];
}

/** What dki evaluates on seen turns against rag, and what building the K/V costs on new ones. */
function tokenSentence(rag: ArmResults, dki: ArmResults): string {
  if (rag.tokens === null || dki.tokens === null) return 'No turn was seen: nothing could be saved.';
  const [text, injected] = [rag.tokens.evaluated, dki.tokens.evaluated];
  const change = text === 0 ? '' : ` (${formatNumber((injected / text - 1) * 100, 0)} %)`;
  const seen = `On seen turns dki evaluated ${formatNumber(injected, 1)} tokens where rag evaluated ${formatNumber(text, 1)}${change}`;
  if (dki.costNew === null) return `${seen}; no turn was new.`;
  const { tokens, turns } = dki.costNew;
  return `${seen}; a new turn cost ${formatNumber(tokens.evaluated, 1)} (${turns} of ${dki.turns.new + dki.turns.seen} turns).`;
}

/** Time to first token of dki against rag, judged by the paired log-ratio, and beside it the fair opponent's. */
function latencySentence(rag: ArmResults, dki: ArmResults, { arms, comparisons }: RunResults): string[] {
  const [text, injected] = [rag.metrics.ttftMs, dki.metrics.ttftMs];
  const paired = comparisons.find(({ metric, a, b }) => metric === 'ttftLogRatio' && a === 'dki' && b === reference);
  if (text === null || injected === null || paired === undefined) return [];
  const ratio = [paired.delta, paired.low, paired.high].map((part) => formatNumber(Math.exp(part), 2));
  const means = `${formatNumber(injected.mean, 1)} ms against ${formatNumber(text.mean, 1)} ms`;
  const cached = arms.find(({ arm }) => arm === 'rag-cached')?.metrics.ttftMs;
  const opponent = cached ? `; rag-cached, which keeps its prefixes too, took ${formatNumber(cached.mean, 1)} ms` : '';
  return [
    `The first token of a seen turn came after ${means}: ` +
      `${ratio[0]!} [${ratio[1]!}, ${ratio[2]!}] of rag's time, ${paired.verdict}${opponent}.`,
  ];
}

/** What the result says in three to five plain sentences, and what it does not say. */
export function verdictSentences(results: RunResults): string[] {
  const { arms, comparisons, run } = results;
  const lack = lackOfProof(results);
  const rag = arms.find(({ arm }) => arm === reference);
  const dki = arms.find(({ arm }) => arm === 'dki');
  const measured = rag !== undefined && dki !== undefined && rag.n > 0 && dki.n > 0;
  const seen = measured && dki.turns.seen > 0;
  const size = `${formatNumber(run.model.parameters / 1e6, 1)} million parameters`;
  return [
    ...(lack === undefined ? [] : [`${lack}. Do not quote these numbers.`]),
    ...(run.unknownQuality === null ? qualitySentences(comparisons) : [`No quality: ${run.unknownQuality}.`]),
    ...(seen ? [tokenSentence(rag, dki), ...latencySentence(rag, dki, results)] : []),
    ...(measured && !seen ? ['No turn was seen before: this run says nothing of what K/V saves.'] : []),
    `This holds for ${run.model.name}, a model of ${size}, on ${run.dataset.name}, ${run.dataset.users} users; ` +
      'it does not show that larger models or other domains behave alike.',
  ];
}
