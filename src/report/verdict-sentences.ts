import { present } from '../base/present.ts';
import { MIN_USERS } from '../eval/analysis/statistics/verdict.ts';
import { contrastName } from '../eval/analysis/summary/planned-contrast.ts';
import {
  countText,
  type Difference,
  formatDifference,
  formatNumber,
  formatProbability,
} from '../render/format-number.ts';
import type { ArmResults, BreakEven, Comparison, CostName, RunResults } from '../store/records/run-results.ts';
import { baselineArm, findComparison, joinedArm, prefixCacheArm, primaryArm } from './find-arms-and-comparisons.ts';
import { lackOfProof, undecidedChecks } from './validity-caveats.ts';
import { qualityFinding, ratioText } from './verdict-wording.ts';
import { findMetric, plansContrast, primaryMetric, taskSuccessMeaning } from './metric-display.ts';

/** The verdict of a run in sentences: failed checks, savings, quality, undecided checks, and last its scope. */
export function verdictSentences(results: RunResults): string[] {
  const { arms, run } = results;
  const lack = lackOfProof(results);
  const { users, name } = run.dataset;
  const scope = users === 1 ? 'one user, so it does not hold for others' : `${users} users`;
  return present([
    lack !== undefined && `${lack}. Do not quote these numbers.`,
    ...contrastSentences(results),
    ...costSentences(results),
    ...(run.unknownQuality === null
      ? qualitySentences(results, baselineArm(arms)?.arm ?? '')
      : [`No quality: ${run.unknownQuality}.`]),
    undecidedChecks(results),
    `This holds for ${run.model.name}, ${modelSize(run.model)}, on ${name}, ${scope}; ` +
      'it does not show that larger models or other domains behave alike.',
  ]);
}

const points = (difference: Difference): string => formatDifference(difference, 100, 1);

/** What the verdict says of the planned contrast: the reason if it was not measured; none if the data plan none. @param inFull adds its parts and its power */
export function contrastSentences({ contrast }: RunResults, inFull = true): string[] {
  if (contrast === undefined) return [];
  const { planned, before, found } = contrast;
  const name = `Planned contrast, ${contrastName(planned)}`;
  if (found.state === 'absent') return [`${name}: not measured (${found.why}).`];
  const { p, verdict, detectable, parts } = found;
  const test = p === null ? verdict : `p ${formatProbability(p)}, ${verdict}`;
  if (!inFull) return [`${name}: ${points(found)} points (${test}).`];
  const models = p === null ? '' : ', without correction for several models';
  const share = (value: number | null): string => (value === null ? '–' : formatNumber(value * 100, 1));
  const each = parts.map((part) => `${part.category} ${points(part)}`).join(', ');
  return [
    `${name}: ${points(found)} points (${test}${models}; ${each}). It could show ${share(before.detectable)} points by plan, ` +
      `${share(detectable)} with these items.`,
  ];
}

export const modelSize = ({ parameters }: { readonly parameters: number | null }): string =>
  parameters === null ? 'unknown size' : `${formatNumber(parameters / 1e6, 1)} million parameters`;

/** What intervals are over: users, or the questions of a single user. */
export const intervalUnit = ({ dataset: { users } }: Pick<RunResults['run'], 'dataset'>): string =>
  users === 1 ? 'over the questions of one user' : 'over users';

/** The reason why a run has no verdicts; undefined if it has enough users. */
export function tooFewUsers({ dataset: { users } }: Pick<RunResults['run'], 'dataset'>): string | undefined {
  if (users >= MIN_USERS) return undefined;
  return users === 1
    ? 'with one user, intervals are over its questions and do not hold for other users'
    : `${users} users; fewer than ${MIN_USERS} do not represent others`;
}

function costSentences(results: RunResults): string[] {
  const { arms } = results;
  const [rag, dki, cached] = [baselineArm(arms), primaryArm(arms), prefixCacheArm(arms)];
  if (rag === undefined || dki === undefined || rag.n === 0 || dki.n === 0) return [];
  if (dki.turns.hit === 0) return ['No cache hits in this run: savings were not measured.'];
  return [
    ...(cached === undefined || cached.n === 0 ? [] : savingsSentences(dki, cached.arm, results)),
    ...savingsSentences(dki, rag.arm, results),
    ...hitAndMissSentences(dki),
  ];
}

/** `A cache miss of dki evaluates 134.3 tokens (171 of 300 turns with memories).`, `4 of 9 cache hits of dki …` */
function hitAndMissSentences({ arm, costMiss, turns, byRetrieval = [] }: ArmResults): string[] {
  const everything = byRetrieval.find(({ kind }) => kind === 'everything')?.hits ?? 0;
  const hits = byRetrieval.reduce((sum, part) => sum + part.hits, 0);
  return present([
    costMiss === null
      ? `${arm} had no cache miss.`
      : `A cache miss of ${arm} evaluates ${formatNumber(costMiss.tokens.evaluated, 1)} tokens (${turns.miss} of ${turns.hit + turns.miss} turns with memories).`,
    hits > 0 && `${everything} of ${hits} cache hits of ${arm} are of users whose memories were all retrieved.`,
  ]);
}

/** `turn 3 [2, 5]`, or `never [8, never]` */
export function breakEvenText({ turn, low, high }: Pick<BreakEven, 'turn' | 'low' | 'high'>): string {
  const orNever = (value: number | null): string => (value === null ? 'never' : formatNumber(value, 0));
  return `${turn === null ? 'never' : `turn ${turn}`} [${orNever(low)}, ${orNever(high)}]`;
}

/** `dki evaluated 25.2 tokens per turn, rag 128.1 (fewer)`, `its first token took 0.37 [0.35, 0.40] of the time, …` */
function costText(compared: Comparison | undefined): string | undefined {
  if (compared?.means === undefined) return undefined;
  const { a, b, means, metric, verdict } = compared;
  const [own, other] = [formatNumber(means.a, 1), formatNumber(means.b, 1)];
  if (metric.startsWith('ttft'))
    return `its first token took ${ratioText(compared, `of the time, ${own} ms against ${other} ms`)}`;
  return `${a} evaluated ${own} tokens per turn, ${b} ${other}${verdict === 'not judged' ? '' : ` (${verdict})`}`;
}

/** Savings of the primary arm against a text arm: on cache hits, over all turns with the hit rate, and the break-even. */
function savingsSentences({ arm, hitRate }: ArmResults, opponent: string, results: RunResults): string[] {
  const costs = (...metrics: readonly CostName[]): string =>
    metrics.flatMap((metric) => costText(findComparison(results, arm, opponent, metric)) ?? []).join('; ');
  const hits = costs('evaluatedTokens', 'ttftLogRatio');
  const all = costs('evaluatedTokensAll', 'ttftLogRatioAll');
  const rate = hitRate === null ? '' : ` (hit rate ${formatNumber(hitRate * 100, 0)} %)`;
  const breakEven = results.breakEven.find((one) => one.arm === arm && one.against === opponent);
  return present([
    hits !== '' && `Against ${opponent}, on cache hits: ${hits}.`,
    all !== '' && `Over all turns${rate}: ${all}.`,
    breakEven && `Break-even against ${opponent}: ${breakEvenText(breakEven)}.`,
  ]);
}

/**
 * A sentence each for the verdicts of the planned comparisons on the primary metric and on abstention; the reason if there is no
 * verdict. Where the data plan a contrast, differences by category stand in place of those over all of them.
 */
function qualitySentences({ run, arms, comparisons }: RunResults, baseline: string): string[] {
  const primary = primaryMetric(run);
  const abstention = primary.name === 'abstention' ? undefined : findMetric(run, 'abstention');
  const sentences = present([primary, abstention]).flatMap((metric) => {
    const tested = comparisons.filter(
      (one) => one.metric === metric.name && one.b === baseline && one.pAdjusted !== null,
    );
    const isByCategory = metric === primary && plansContrast(run);
    const differing = new Set(tested.filter(({ verdict }) => verdict !== 'identical').map(({ a }) => a));
    const clauses = tested
      .filter(({ a }) => !isByCategory || !differing.has(a))
      .map((one) => `${one.a} ${qualityFinding(one, metric)}`);
    return present([
      clauses.length > 0 && `Against ${baseline}: ${clauses.join('; ')}.`,
      ...(isByCategory ? arms.map((one) => differing.has(one.arm) && categorySentence(run, one)) : []),
    ]);
  });
  const tooFew = tooFewUsers(run);
  return sentences.length === 0 || tooFew === undefined ? sentences : [...sentences, `No verdict: ${tooFew}.`];
}

/** The differences of an arm to the baseline by category; undefined without any. */
function categorySentence(run: RunResults['run'], { arm, breakdown }: ArmResults): string | undefined {
  const against = breakdown.flatMap(({ difference }) => difference?.against ?? [])[0];
  const differences = breakdown.flatMap(({ value, difference }) =>
    difference ? `${value} ${points(difference)}` : [],
  );
  const what = `by category, exploratory, in points of task success (${taskSuccessMeaning(run)})`;
  return against && `${arm} against ${against} ${what}: ${differences.join(', ')}.`;
}

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
      return compared === undefined ? [] : ratioText(compared, `× ${other}`);
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

/** Sentences as the title of a figure, which has no full stop. */
export const sentencesTitle = (sentences: readonly string[]): string => sentences.join(' ').replace(/\.$/, '');

/** The first answer of a run in two sentences: the planned contrast if there is one, then exact and joined KV. Tables say the rest. */
export function headline(results: RunResults): string[] {
  const arms = [primaryArm(results.arms), joinedArm(results.arms)];
  return [...contrastSentences(results, false), ...arms.flatMap((arm) => armSentence(results, arm) ?? [])].slice(0, 2);
}
