import type { ArmResults, Comparison, RunResults } from '../records/results.ts';
import { primaryMetric } from './shown-metric.ts';
import { formatNumber, lackOfProof, undecidedChecks } from './table.ts';

/** The arm that all others are compared with; undefined if it did not run. */
export function baselineOf(arms: readonly ArmResults[]): ArmResults | undefined {
  return arms.find(({ traits }) => traits.comparison === 'baseline');
}

/** The arm whose cache hits and misses divide the turns of every arm; undefined if it did not run. */
export function primaryOf(arms: readonly ArmResults[]): ArmResults | undefined {
  return arms.find(({ traits }) => traits.comparison === 'primary');
}

/** The verdicts on the primary metric, for the planned comparisons alone. */
function qualitySentences({ run, comparisons }: RunResults, baseline: string | undefined): string[] {
  const primary = primaryMetric(run);
  const quality = comparisons.filter(
    ({ metric, b, pAdjusted }) => metric === primary.name && b === baseline && pAdjusted !== null,
  );
  const of = (verdict: Comparison['verdict']) => quality.filter((comparison) => comparison.verdict === verdict);
  const list = (compared: readonly Comparison[], detail: (comparison: Comparison) => string) =>
    compared.map((comparison) => `${comparison.a} ${detail(comparison)}`).join(', ');
  const shown = (value: number) => formatNumber(value * primary.scale, primary.digits);
  const difference = ({ delta, low, high }: Comparison) =>
    `(${shown(delta)} ${primary.differenceUnit} [${shown(low)}, ${shown(high)}])`;

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

/** Evaluated tokens of dki against rag: on cache hits, and the cost of a cache miss. */
function tokenSentence(rag: ArmResults, dki: ArmResults): string {
  if (rag.tokens === null || dki.tokens === null) return 'No cache hits: nothing could be saved.';
  const [text, injected] = [rag.tokens.evaluated, dki.tokens.evaluated];
  const change = text === 0 ? '' : ` (${formatNumber((injected / text - 1) * 100, 0)} %)`;
  const hits = `On cache hits ${dki.arm} evaluated ${formatNumber(injected, 1)} tokens, ${rag.arm} ${formatNumber(text, 1)}${change}`;
  if (dki.costMiss === null) return `${hits}; there was no cache miss.`;
  const { tokens, turns } = dki.costMiss;
  return `${hits}; a cache miss cost ${formatNumber(tokens.evaluated, 1)} (${turns} of ${dki.turns.miss + dki.turns.hit} turns).`;
}

/** Time to first token of dki against rag, by the paired log-ratio, and beside it that of rag with a prefix cache. */
function latencySentence(rag: ArmResults, dki: ArmResults, { arms, comparisons }: RunResults): string[] {
  const [text, injected] = [rag.metrics.ttftMs, dki.metrics.ttftMs];
  const paired = comparisons.find(({ metric, a, b }) => metric === 'ttftLogRatio' && a === dki.arm && b === rag.arm);
  if (text === null || injected === null || paired === undefined) return [];
  const ratio = [paired.delta, paired.low, paired.high].map((part) => formatNumber(Math.exp(part), 2));
  const means = `${formatNumber(injected.mean, 1)} ms against ${formatNumber(text.mean, 1)} ms`;
  const cached = arms.find(({ traits }) => traits.comparison === 'planned' && traits.injects === 'nothing');
  const opponent = cached?.metrics.ttftMs
    ? `; ${cached.arm}, which keeps its prefixes too, took ${formatNumber(cached.metrics.ttftMs.mean, 1)} ms`
    : '';
  return [
    `On cache hits the first token came after ${means}: ` +
      `${ratio[0]!} [${ratio[1]!}, ${ratio[2]!}] of ${rag.arm}'s time, ${paired.verdict}${opponent}.`,
  ];
}

/** The verdict of a run in three to six sentences: what failed comes first, what could not be decided behind the numbers, and the last limits its scope. */
export function verdictSentences(results: RunResults): string[] {
  const { arms, run } = results;
  const lack = lackOfProof(results);
  const unproven = undecidedChecks(results);
  const [rag, dki] = [baselineOf(arms), primaryOf(arms)];
  const measured = rag !== undefined && dki !== undefined && rag.n > 0 && dki.n > 0;
  const hits = measured && dki.turns.hit > 0;
  const size = `${formatNumber(run.model.parameters / 1e6, 1)} million parameters`;
  return [
    ...(lack === undefined ? [] : [`${lack}. Do not quote these numbers.`]),
    ...(run.unknownQuality === null ? qualitySentences(results, rag?.arm) : [`No quality: ${run.unknownQuality}.`]),
    ...(hits ? [tokenSentence(rag, dki), ...latencySentence(rag, dki, results)] : []),
    ...(measured && !hits ? ['No cache hits in this run: savings were not measured.'] : []),
    ...(unproven === undefined ? [] : [unproven]),
    `This holds for ${run.model.name}, a model of ${size}, on ${run.dataset.name}, ${run.dataset.users} users; ` +
      'it does not show that larger models or other domains behave alike.',
  ];
}
