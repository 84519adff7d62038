import type { ArmTraits } from '../../../../store/records/arm-traits.ts';
import type { EvidenceRank, MethodResults } from '../../../../store/records/results.ts';
import { evidenceRanks } from '../../../../store/records/results/method-results.ts';
import type { AnsweredResult } from '../../../../store/records/turn-result.ts';
import type { MetricDefinition } from '../../metrics/metric-definition.ts';
import { pairedLatency } from '../../statistics/paired-latency.ts';
import { countUsers, pairsWhere } from '../../statistics/observations.ts';
import { type Measure, paired, perItem } from '../../statistics/per-item.ts';
import { where } from '../../statistics/sublist.ts';
import { type ComparedArms, comparedArms } from '../compared-arms.ts';
import type { DesignEffects } from '../design-effects.ts';
import { asDifference, gainOf, pooledEffect } from '../paired-quality.ts';
import type { Regime } from '../regime.ts';
import { estimateOf } from '../turn-means.ts';
import { timingOf } from '../../turn-measures.ts';
import { againstRandom } from './against-random.ts';
import { methodOf } from './method-of-arm.ts';

type Turns = readonly AnsweredResult[];

/** Settings that all methods of a run share. */
interface MethodSettings extends Pick<ComparedArms, 'regime' | 'seed'> {
  readonly primary: MetricDefinition;
  readonly effects: DesignEffects;
}

/** The arms of a run as methods at a budget: cost, and quality beside random tokens and by rank of the evidence. */
export function methodResults(
  answered: Turns,
  arms: readonly ArmTraits[],
  { primary, effects, regime, seed }: MethodSettings,
): MethodResults[] {
  const compared = comparedArms(answered, arms, { regime, seed });
  if (compared === undefined) return [];
  const { byArm, baseline } = compared;
  const random = againstRandom(primary, arms, compared);
  const queryOnly = byArm.get(arms.find(({ comparison }) => comparison === 'primary')?.name ?? '') ?? [];
  return arms.flatMap((arm) => {
    const turns = byArm.get(arm.name);
    if (turns === undefined) return [];
    const hits = regime.hits(turns);
    return [
      {
        arm: arm.name,
        ...methodOf(arm),
        bytesPerMemoryToken: bytesPerToken(turns),
        recomputedTokens: meanOf(hits, ({ account }) => account.recomputed) ?? 0,
        selectedTokens: meanOf(hits, ({ account }) => account.selection?.selected ?? null),
        timesQueryOnly: timesQueryOnly(hits, regime.hits(queryOnly), regime),
        againstRandom: random.get(arm.name) ?? null,
        byRank: byRank(primary, effects, turns, arm.name === baseline ? [] : byArm.get(baseline)!),
      },
    ];
  });
}

/** Of all turns that injected, so that long memories count as often as they have tokens. */
function bytesPerToken(turns: Turns): number | null {
  let [bytes, tokens] = [0, 0];
  for (const { prefill, account } of turns) {
    if (prefill?.memoryLines === undefined || account.resident === 0) continue;
    bytes += (prefill.sizeBytes * prefill.memoryLines.cells) / account.resident;
    tokens += prefill.memoryLines.tokens;
  }
  return tokens === 0 ? null : bytes / tokens;
}

function meanOf(turns: Turns, value: (turn: AnsweredResult) => number | null): number | null {
  const values = turns.flatMap((turn) => value(turn) ?? []);
  return values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** The question alone behind K/V that is in place: what comes before its first token, less what it took to load that. */
const questionAlone: Measure<AnsweredResult> = { of: ({ timings }) => timings.firstToken - timings.kvLoad };

/** Beside what the question alone takes behind K/V that is in place: the primary arm, less what it took to load it. */
function timesQueryOnly(hits: Turns, primary: Turns, { divides }: Regime): MethodResults['timesQueryOnly'] {
  if (!divides) return null;
  const both = paired(perItem(hits, timingOf.firstToken), perItem(primary, questionAlone));
  const pairs = pairsWhere(both, (_, queryOnly) => queryOnly > 0);
  if (pairs.a.length === 0) return null;
  const { delta, interval } = pairedLatency(pairs);
  return {
    mean: Math.exp(delta),
    low: Math.exp(interval.low),
    high: Math.exp(interval.high),
    n: pairs.a.length,
    users: countUsers(pairs),
  };
}

function rankOf({ scores: { evidenceRank } }: AnsweredResult): EvidenceRank | undefined {
  return evidenceRank === null ? undefined : evidenceRanks[Math.min(evidenceRank, evidenceRanks.length) - 1];
}

function byRank(
  metric: MetricDefinition,
  effects: DesignEffects,
  turns: Turns,
  baseline: Turns,
): MethodResults['byRank'] {
  return evidenceRanks.flatMap((rank): MethodResults['byRank'] => {
    const isThere = (turn: AnsweredResult): boolean => rankOf(turn) === rank;
    const [own, others] = [where(turns, isThere), where(baseline, isThere)];
    const quality = estimateOf(metric, own, effects);
    if (quality === null) return [];
    const pairs = paired(perItem(own, metric), perItem(others, metric));
    if (pairs.a.length === 0) return [{ rank, quality, difference: null }];
    const difference = asDifference(gainOf(pairs, metric, pooledEffect([pairs]) ?? 1), metric);
    return [{ rank, quality, difference: { ...difference, n: pairs.a.length, users: countUsers(pairs) } }];
  });
}
