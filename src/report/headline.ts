import { countText } from '../render/format-number.ts';
import type { ArmResults, CostName, RunResults } from '../store/records/run-results.ts';
import { baselineArm, findComparison, joinedArm, prefixCacheArm, primaryArm } from './find-arms-and-comparisons.ts';
import { plansContrast, primaryMetric } from './metric-display.ts';
import { contrastSentences } from './verdict-sentences.ts';
import { qualityFinding, ratioText } from './verdict-wording.ts';

/** What an arm keeps of the baseline's quality; only equality where the data plan a contrast of categories. */
function keptText(results: RunResults, arm: string, baseline: string): string[] {
  const primary = primaryMetric(results.run);
  const compared = findComparison(results, arm, baseline, primary.name);
  if (compared === undefined || results.run.unknownQuality !== null) return [];
  return compared.verdict === 'identical' || !plansContrast(results.run) ? [qualityFinding(compared, primary)] : [];
}

/** Time to first token against text and a prefix cache: on cache hits, then over all turns. Without a primary arm there are no hits. */
function timesText(results: RunResults, arm: string, opponents: readonly string[]): string[] {
  const primary = primaryArm(results.arms);
  if (primary?.turns.hit === 0) return ['no cache hits, so that savings were not measured'];
  const ratios = (metric: CostName, population: string): string[] => {
    const found = opponents.flatMap((other) => {
      const compared = findComparison(results, arm, other, metric);
      return compared === undefined ? [] : [ratioText(compared, `× ${other}`)];
    });
    return found.length === 0 ? [] : [`${population}: ${found.join(', ')}`];
  };
  if (primary === undefined) return ratios('ttftLogRatio', 'time to first token');
  return [
    ...ratios('ttftLogRatio', `time to first token on ${countText(primary.turns.hit, 'cache hit')}`),
    ...ratios('ttftLogRatioAll', `over all ${countText(primary.n, 'turn')}`),
  ];
}

/** One sentence on an arm: what it keeps of the baseline's quality, and its time; undefined without turns to compare. */
function armSentence(results: RunResults, own: ArmResults | undefined): string | undefined {
  const rag = baselineArm(results.arms);
  if (rag === undefined || own === undefined || rag.n === 0 || own.n === 0) return undefined;
  const opponents = [rag, prefixCacheArm(results.arms)].flatMap((one) => one?.arm ?? []);
  const clauses = [...keptText(results, own.arm, rag.arm), ...timesText(results, own.arm, opponents)];
  return clauses.length === 0 ? undefined : `Against ${rag.arm}, ${own.arm} ${clauses.join('; ')}.`;
}

/** The first answer of a run in two sentences: the planned contrast if there is one, then exact and joined KV. Tables say the rest. */
export function headline(results: RunResults): string[] {
  const arms = [primaryArm(results.arms), joinedArm(results.arms)];
  return [...contrastSentences(results, false), ...arms.flatMap((arm) => armSentence(results, arm) ?? [])].slice(0, 2);
}
