import { groupBy } from '../../../config/group-by.ts';
import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { Comparison } from '../../../records/results.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import type { MetricDefinition } from '../metrics/metric-definition.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { bootstrapDifference, type Interval } from '../statistics/bootstrap.ts';
import { clopperPearson } from '../statistics/clopper-pearson.ts';
import { effectiveItems } from '../statistics/design-effect.ts';
import { holm } from '../statistics/holm.ts';
import { minimumDetectableEffect } from '../statistics/minimum-detectable-effect.ts';
import { meanOf, differences, type PairedObservation } from '../statistics/observations.ts';
import { judgeLatency, noiseFloor, pairedLatency } from '../statistics/paired-latency.ts';
import { paired, perItem } from '../statistics/per-item.ts';
import { signFlipP } from '../statistics/sign-flip.ts';
import { asGain, judgeQuality, marginOf } from '../statistics/verdict.ts';
import { pairKey } from '../turns-of-run.ts';
import type { Regime } from './regime.ts';

interface Turns {
  readonly byArm: ReadonlyMap<string, readonly AnsweredResult[]>;
  readonly baseline: string;
  /** The A/A twin of the baseline. */
  readonly twin: string | undefined;
  readonly metrics: RunMetrics;
  readonly regime: Regime;
  readonly seed: number;
  /** Of metrics in %, points. */
  readonly margin: number;
  /** The self-test was bitwise equal: equal bits are the machine's rule, not its luck. */
  readonly bitwise: boolean;
}

/** A win is the better value: the higher score, the lower cost. */
export function tally(
  pairs: readonly PairedObservation[],
  better: 'higher' | 'lower',
): Pick<Comparison, 'wins' | 'losses' | 'ties' | 'n' | 'users'> {
  const higher = pairs.filter((pair) => pair.a > pair.b).length;
  const lower = pairs.filter((pair) => pair.a < pair.b).length;
  return {
    n: pairs.length,
    users: new Set(pairs.map((pair) => pair.userId)).size,
    wins: better === 'higher' ? higher : lower,
    losses: better === 'higher' ? lower : higher,
    ties: pairs.filter((pair) => pair.a === pair.b).length,
  };
}

/** Every answer the same, and every probability the same bits as the text's. */
function identical(a: readonly AnsweredResult[], b: readonly AnsweredResult[]): boolean {
  const others = new Map(b.map((turn) => [pairKey(turn), turn]));
  return (
    a.length === b.length &&
    a.every((turn) => {
      const other = others.get(pairKey(turn));
      return (
        other?.answer.text === turn.answer.text &&
        turn.observed.sequenceSha256 === other.observed.sequenceSha256 &&
        turn.observed.parity?.bitwiseEqual === true &&
        other.observed.parity?.bitwiseEqual === true
      );
    })
  );
}

/**
 * 95 % interval of a mean paired difference. If no pair differs, no resample would: then as many as Clopper and Pearson
 * allow may differ, either way, where values are shares.
 */
export function differenceInterval(pairs: readonly PairedObservation[], seed: number, unit = '%'): Interval {
  const deltas = differences(pairs);
  if (unit !== '%' || deltas.some(({ value }) => value !== 0)) return bootstrapDifference(pairs, seed);
  const { high } = clopperPearson(0, effectiveItems(deltas));
  return { low: -high, high };
}

/** One metric of an arm against the baseline; the planned arms are tested. */
function quality(
  metric: MetricDefinition,
  { name, comparison }: ArmTraits,
  { byArm, baseline, seed, margin, bitwise }: Turns,
): Comparison | null {
  const [a, b] = [byArm.get(name)!, byArm.get(baseline)!];
  const of = (turn: AnsweredResult): number | null => metric.of(turn);
  const pairs = paired(perItem(a, of), perItem(b, of));
  if (pairs.length === 0) return null;
  const delta = meanOf(differences(pairs));
  const same = bitwise && identical(a, b);
  const interval = same ? { low: 0, high: 0 } : differenceInterval(pairs, seed, metric.unit);
  const difference = { delta, ...interval, n: pairs.length, identical: same };
  return {
    a: name,
    b: baseline,
    metric: metric.name,
    delta,
    ...interval,
    ...tally(pairs, metric.direction),
    detectable: minimumDetectableEffect(pairs) || null,
    p: comparison === 'planned' || comparison === 'primary' ? signFlipP(pairs, seed) : null,
    pAdjusted: null,
    ...judgeQuality(asGain(difference, metric), marginOf(metric, margin)),
  };
}

function latency({ name }: ArmTraits, { byArm, baseline, twin, regime, seed }: Turns): Comparison | null {
  const ttft = (turn: AnsweredResult): number => turn.timings.firstToken;
  const hits = (arm: string): ReturnType<typeof perItem> => perItem(byArm.get(arm)!.filter(regime.isHit), ttft);
  const pairs = paired(hits(name), hits(baseline));
  if (pairs.length === 0) return null;
  const twins = twin !== undefined && byArm.has(twin) ? paired(hits(twin), hits(baseline)) : [];
  const { delta, low, high } = pairedLatency(pairs, seed);
  return {
    a: name,
    b: baseline,
    metric: 'ttftLogRatio',
    delta,
    low,
    high,
    ...tally(pairs, 'lower'),
    detectable: null,
    p: null,
    pAdjusted: null,
    verdict:
      twins.length === 0
        ? 'not judged'
        : judgeLatency({ delta, low, high, n: pairs.length, users: 0 }, noiseFloor(pairedLatency(twins, seed))),
  };
}

function evaluatedTokens({ name }: ArmTraits, { byArm, baseline, regime, seed }: Turns): Comparison | null {
  const evaluated = (turn: AnsweredResult): number => turn.tokens.evaluated;
  const hits = (arm: string): ReturnType<typeof perItem> => perItem(byArm.get(arm)!.filter(regime.isHit), evaluated);
  const pairs = paired(hits(name), hits(baseline));
  if (pairs.length === 0) return null;
  return {
    a: name,
    b: baseline,
    metric: 'evaluatedTokens',
    delta: meanOf(differences(pairs)),
    ...bootstrapDifference(pairs, seed),
    ...tally(pairs, 'lower'),
    detectable: null,
    p: null,
    pAdjusted: null,
    verdict: 'not judged',
  };
}

function adjusted(comparisons: readonly Comparison[]): Comparison[] {
  const tested = comparisons.filter((comparison) => comparison.p !== null);
  const values = holm(tested.map((comparison) => comparison.p!));
  return comparisons.map((comparison) => {
    const place = tested.indexOf(comparison);
    return place === -1 ? comparison : { ...comparison, pAdjusted: values[place]! };
  });
}

/** The metrics whose differences to the baseline are shown: the primary one, and what the gold's probability says. */
function comparedMetrics({ all, primary }: RunMetrics): MetricDefinition[] {
  return [primary, ...all.filter((metric) => metric.name === 'goldLogProb' && metric !== primary)];
}

/**
 * Every arm against the baseline, paired by item: the primary metric and the gold's log-probability, each tested for the
 * planned arms as a family of its own, and on cache hits time to first token and evaluated tokens. None without a baseline.
 */
export function compareWithBaseline(
  answered: readonly AnsweredResult[],
  arms: readonly ArmTraits[],
  settings: Pick<Turns, 'metrics' | 'regime' | 'seed' | 'margin' | 'bitwise'>,
): Comparison[] {
  const byArm = groupBy(answered, (turn) => turn.arm);
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  if (baseline === undefined || !byArm.has(baseline)) return [];
  const twin = arms.find(({ control }) => control === 'twin')?.name;
  const turns: Turns = { byArm, baseline, twin, ...settings };
  const others = arms.filter(({ name }) => name !== baseline && byArm.has(name));
  const all = (compare: (arm: ArmTraits, turns: Turns) => Comparison | null): Comparison[] =>
    others.flatMap((arm) => compare(arm, turns) ?? []);
  const [first, ...more] = comparedMetrics(settings.metrics).map((metric) =>
    adjusted(all((arm) => quality(metric, arm, turns))),
  );
  return [...first!, ...all(latency), ...all(evaluatedTokens), ...more.flat()];
}
