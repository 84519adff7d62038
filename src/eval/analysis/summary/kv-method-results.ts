import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { evidenceRanks, type MethodResults } from '../../../store/records/run-results.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import { MIN_USERS, LEVEL } from '../statistics/verdict.ts';
import { countUsers, pairItems, perItem, sum } from '../statistics/observations.ts';
import { pairedLatency } from '../statistics/paired-latency.ts';
import type { CacheSplit } from './arms-by-role.ts';
import { type DesignEffects, estimateMetric, meanOfKnown } from './metric-estimates.ts';
import { judgeDifferences, pairedDelta } from '../statistics/paired-quality.ts';

type AgainstRandom = NonNullable<MethodResults['againstRandom']>;

interface MethodSettings {
  readonly split: CacheSplit;
  readonly seed: number;
  readonly primary: MetricDefinition;
  readonly effects: DesignEffects;
}

/** Results by method and budget: cost, and quality against random tokens and by rank of the evidence. */
export function methodResults(
  answered: Turns,
  arms: readonly ArmTraits[],
  { primary, effects, split, seed }: MethodSettings,
): MethodResults[] {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const baselineTurns = turnsOfArm(answered, baseline);
  if (baselineTurns.length === 0) return [];
  const random = compareWithRandom(primary, arms, answered, seed);
  const primaryTurns = turnsOfArm(answered, arms.find(({ comparison }) => comparison === 'primary')?.name);
  return arms.flatMap((arm): MethodResults | [] => {
    const turns = turnsOfArm(answered, arm.name);
    if (turns.length === 0) return [];
    const hits = split.hits(turns);
    return {
      arm: arm.name,
      ...describeMethod(arm),
      bytesPerMemoryToken: bytesPerToken(turns),
      recomputedTokens: meanOfKnown(hits, ({ account }) => account.recomputed),
      selectedTokens: meanOfKnown(hits, ({ account }) => account.selection?.selected),
      timesQueryOnly: timesQueryOnly(hits, split.hits(primaryTurns), split),
      againstRandom: random.get(arm.name) ?? null,
      byRank: byRank(primary, effects, turns, arm.name === baseline ? [] : baselineTurns),
    };
  });
}

/** Compares each method with as many random tokens, by arm name; deployable methods form one family of tests. */
function compareWithRandom(metric: MetricDefinition, arms: readonly ArmTraits[], answered: Turns, seed: number) {
  const compared = arms.flatMap((arm) => {
    const control = randomControl(arm, arms);
    const values = (name: string) => perItem(turnsOfArm(answered, name), metric.of);
    const pairs = control === undefined ? [] : pairItems(values(arm.name), values(control.name));
    if (control === undefined || pairs.length === 0) return [];
    return { arm, control, pairs, planned: arm.deployable !== false, pooled: true, identical: false };
  });
  const judged = judgeDifferences(metric, compared, { seed, margin: 0 });
  return new Map(
    compared.map(({ arm, control }, place) => {
      const { delta, low, high, n, users, wins, losses, ties, p, pAdjusted } = judged[place]!;
      const outcome = outcomeOfTest(pAdjusted, users, metric.direction === 'higher' ? delta > 0 : delta < 0);
      const test = { p, pAdjusted, outcome };
      return [arm.name, { b: control.name, delta, low, high, n, users, wins, losses, ties, ...test }];
    }),
  );
}

function outcomeOfTest(pAdjusted: number | null, users: number, isGain: boolean): AgainstRandom['outcome'] {
  if (pAdjusted === null) return 'not tested';
  if (users < MIN_USERS) return 'too few users';
  if (pAdjusted >= LEVEL) return 'undecided';
  return isGain ? 'better' : 'worse';
}

/** Stored bytes of the memories that a turn injects, without the header; null if it injects none. */
export function memoryBytes({ prefill, account }: AnsweredResult): number | null {
  if (prefill?.memoryLines === undefined || account.resident === 0) return null;
  return (prefill.sizeBytes * prefill.memoryLines.cells) / account.resident;
}

/** Stored bytes per memory token, pooled over turns, so that long memories weigh more; null if no KV is stored. */
function bytesPerToken(turns: Turns): number | null {
  const storing = turns.filter((turn) => memoryBytes(turn) !== null);
  const tokens = sum(storing.map(({ prefill }) => prefill!.memoryLines!.tokens));
  return tokens === 0 ? null : sum(storing.map((turn) => memoryBytes(turn)!)) / tokens;
}

/** TTFT relative to evaluating the question alone, that is, to the primary arm's TTFT minus its loading time. */
function timesQueryOnly(hits: Turns, primary: Turns, { hasPrimary }: CacheSplit): MethodResults['timesQueryOnly'] {
  if (!hasPrimary) return null;
  const pairs = pairItems(
    perItem(hits, ({ timings }) => timings.firstToken),
    perItem(primary, ({ timings }) => timings.firstToken - timings.kvLoad),
  ).filter(({ b }) => b > 0);
  if (pairs.length === 0) return null;
  const { delta, interval } = pairedLatency(pairs);
  const [mean, low, high] = [Math.exp(delta), Math.exp(interval.low), Math.exp(interval.high)];
  return { mean, low, high, n: pairs.length, users: countUsers(pairs) };
}

function byRank(metric: MetricDefinition, effects: DesignEffects, turns: Turns, baseline: Turns) {
  return evidenceRanks.flatMap((rank, place): MethodResults['byRank'] => {
    const hasRank = ({ scores: { evidenceRank } }: AnsweredResult): boolean =>
      evidenceRank !== null && Math.min(evidenceRank, evidenceRanks.length) - 1 === place;
    const own = turns.filter(hasRank);
    const quality = estimateMetric(metric, own, effects);
    if (quality === null) return [];
    const pairs = pairItems(perItem(own, metric.of), perItem(baseline.filter(hasRank), metric.of));
    if (pairs.length === 0) return [{ rank, quality, difference: null }];
    const difference = pairedDelta(pairs, metric);
    return [{ rank, quality, difference: { ...difference, n: pairs.length, users: countUsers(pairs) } }];
  });
}

/** What an arm recomputes or drops, in its traits: `random:ranked:.3`, `first/16:.3`, `knorm:.5`, `link:4`. */
const RULE_AND_NUMBER = /^(?<rule>.+):(?<number>all|[.\d]+)$/;

function selectionRule({ prefill, evict }: ArmTraits) {
  return RULE_AND_NUMBER.exec(evict ?? prefill ?? '')?.groups as { rule: string; number: string } | undefined;
}

export function describeMethod(arm: ArmTraits): Pick<MethodResults, 'method' | 'kind' | 'budget'> {
  const { store } = arm.settings;
  if (store !== undefined && store !== 'f16') {
    return { method: arm.name.replace(`@store=${store}`, '@store'), kind: 'quantised', budget: store };
  }
  const number = selectionRule(arm)?.number;
  if (number === undefined) {
    return { method: arm.name, kind: arm.making === undefined ? 'reference' : 'made', budget: null };
  }
  const bare = arm.base.replace(new RegExp(`:${number.replace('.', '\\.')}$`), '');
  const method = arm.name.replace(arm.base, bare);
  return { method, kind: arm.evict === undefined ? 'recomputed' : 'evicted', budget: number };
}

/**
 * The arm that selects as many random tokens, or repairs as many random blocks, settings alike; undefined if none ran, or all or none
 * are selected.
 */
export function randomControl(arm: ArmTraits, arms: readonly ArmTraits[]): ArmTraits | undefined {
  const { repair } = arm.settings;
  if (repair !== undefined) {
    const ofRandom = JSON.stringify({ ...arm.settings, repair: `${repair}:random` });
    return arms.find(({ base, settings }) => base === arm.base && JSON.stringify(settings) === ofRandom);
  }
  const { rule = 'link', number = 'all' } = selectionRule(arm) ?? {};
  const leavesNothing = ['0', '1', 'all'].includes(number);
  if (leavesNothing || rule.startsWith('random') || rule === 'link') return undefined;
  // `ranked` selects whole blocks, so its control does too, and the length of runs (`run`) has no effect.
  const isRanked = rule === 'ranked';
  const wanted = `${isRanked ? 'random:ranked' : 'random'}:${number}`;
  const settings = ({ settings: { run, ...others } }: ArmTraits): string =>
    JSON.stringify(isRanked ? others : { ...others, run });
  return arms.find((other) => {
    if (settings(other) !== settings(arm)) return false;
    if (arm.evict !== undefined) return other.evict === wanted && other.prefill === arm.prefill;
    return other.evict === undefined && other.prefill?.replace(/\/\d+/, '') === wanted;
  });
}

/** True if some method ran together with its random control. */
export function hasRandomControls(arms: readonly ArmTraits[]): boolean {
  return arms.some((arm) => randomControl(arm, arms) !== undefined);
}
