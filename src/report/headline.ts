import type { ArmResults, CostName, RunResults } from '../store/records/run-results.ts';
import { formatNumber } from '../render/format-number.ts';
import { baselineArm, findComparison, joinedArm, prefixCacheArm, primaryArm } from './find-arms-and-comparisons.ts';
import { categoryDifferencesText, contrastSentences } from './category-contrast-sentences.ts';
import { plansContrast, primaryMetric } from './metric-display.ts';
import { qualityFinding, ratioText } from './verdict-wording.ts';

/** What an arm keeps of the baseline's quality; by category, where the data plan a contrast of categories. */
function keptText(results: RunResults, own: ArmResults, baseline: string): string[] {
  const { run } = results;
  const primary = primaryMetric(run);
  const compared = findComparison(results, own.arm, baseline, primary.name);
  if (compared === undefined || run.unknownQuality !== null) return [];
  if (compared.verdict === 'identical' || !plansContrast(run)) return [qualityFinding(compared, primary)];
  return [`differs by category, exploratory, in points of task success: ${categoryDifferencesText(own)}`];
}

/** `0.32 [0.28, 0.38] × that of rag and 1.13 [0.99, 1.28] × that of rag-cached (undecided)`; undefined if nothing was compared. */
function timesText(results: RunResults, arm: string, opponents: readonly string[], metric: CostName) {
  const ratios = opponents.flatMap((other) => {
    const compared = findComparison(results, arm, other, metric);
    return compared === undefined ? [] : [ratioText(compared, `× that of ${other}`)];
  });
  return ratios.length === 0 ? undefined : ratios.join(' and ');
}

/** `82 % fewer than rag, 20 % more than rag-cached` */
function tokensText({ arms }: RunResults, own: ArmResults, opponents: readonly string[]): string | undefined {
  const changes = opponents.flatMap((name) => {
    const [tokens, others] = [own.tokens?.evaluated, arms.find(({ arm }) => arm === name)?.tokens?.evaluated];
    if (tokens === undefined || others === undefined || others === 0) return [];
    const percent = formatNumber(Math.abs(tokens / others - 1) * 100, 0);
    return [`${percent} % ${tokens < others ? 'fewer' : 'more'} than ${name}`];
  });
  return changes.length === 0 ? undefined : changes.join(', ');
}

/** What an arm saves against text and a prefix cache, on cache hits and over all turns; without a primary arm there are no hits. */
function savingsText(results: RunResults, own: ArmResults, opponents: readonly string[]): string[] {
  const hits = primaryArm(results.arms)?.turns.hit;
  if (hits === 0) return ['no cache hits, so that savings were not measured'];
  const named = (words: string, text: string | undefined): string[] => (text === undefined ? [] : [`${words} ${text}`]);
  const ofHits = named('time to first token is', timesText(results, own.arm, opponents, 'ttftLogRatio'));
  const tokens = named(`tokens evaluated${hits === undefined ? '' : ' on hits'}:`, tokensText(results, own, opponents));
  if (hits === undefined) return [...ofHits.map((text) => `its ${text}`), ...tokens];
  return [
    ...ofHits.map((text) => `on ${hits} cache hits its ${text}`),
    ...named(`over all ${own.n} turns`, timesText(results, own.arm, opponents, 'ttftLogRatioAll')),
    ...tokens,
  ];
}

/** One sentence on an arm: what it keeps of the baseline's quality, and what it saves; undefined without turns to compare. */
function armSentence(results: RunResults, own: ArmResults | undefined): string | undefined {
  const rag = baselineArm(results.arms);
  if (rag === undefined || own === undefined || rag.n === 0 || own.n === 0) return undefined;
  const opponents = [rag, prefixCacheArm(results.arms)].flatMap((one) => one?.arm ?? []);
  const clauses = [...keptText(results, own, rag.arm), ...savingsText(results, own, opponents)];
  return clauses.length === 0 ? undefined : `Against ${rag.arm}, ${own.arm} ${clauses.join('; ')}.`;
}

/** The first answer of a run: the planned contrast if there is one, then a sentence each for exact and joined KV. */
export function headline(results: RunResults): string[] {
  const arms = [primaryArm(results.arms), joinedArm(results.arms)];
  return [...contrastSentences(results), ...arms.flatMap((arm) => armSentence(results, arm) ?? [])];
}
