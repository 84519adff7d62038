import type { ArmResults, Cost, Estimate, FunnelStage, QualityMetric, TokenMeans, WrongClass } from '../results.ts';
import { groupBy } from '../group-by.ts';
import type { ArmTraits } from '../run/arms.ts';
import { estimateLatency, estimateMean, estimateShare } from '../statistics/estimate.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { perItem } from './per-item.ts';
import type { Regime } from './regime.ts';

const WRONG_CLASSES: readonly WrongClass[] = [
  'wrong-abstention',
  'stale',
  'confused',
  'near-copy',
  'fabricated',
  'off-topic',
];
const STAGES: readonly FunnelStage[] = ['stored', 'recalled', 'kept', 'sequence', 'answered'];
const SHARES = ['exactMatch', 'tokenF1', 'memoryRecall', 'abstention', 'taskSuccess'] as const;

function share(turns: readonly AnsweredTurn[], metric: (typeof SHARES)[number], seed: number): Estimate | null {
  return estimateShare(
    perItem(turns, (turn) => turn.scores[metric]),
    seed,
  );
}

function latency(turns: readonly AnsweredTurn[], part: 'firstToken' | 'total', seed: number): Estimate | null {
  return estimateLatency(
    perItem(turns, (turn) => turn.timings[part]),
    seed,
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function tokenMeans(turns: readonly AnsweredTurn[]): TokenMeans {
  const of = (column: keyof TokenMeans): number => mean(turns.map((turn) => turn.tokens[column]));
  return {
    prompt: of('prompt'),
    kvResident: of('kvResident'),
    evaluated: of('evaluated'),
    generated: of('generated'),
    positions: of('positions'),
  };
}

function cost(turns: readonly AnsweredTurn[], seed: number): Cost | null {
  const ttftMs = latency(turns, 'firstToken', seed);
  const totalMs = latency(turns, 'total', seed);
  if (ttftMs === null || totalMs === null) return null;
  return { turns: turns.length, tokens: tokenMeans(turns), ttftMs, totalMs };
}

function breakdown(turns: readonly AnsweredTurn[], seed: number): ArmResults['breakdown'] {
  return (['userKind', 'category', 'phrasing'] as const).flatMap((by) => {
    const groups = groupBy(turns, (turn) => turn.item[by]);
    return [...groups.keys()].sort().flatMap((value) => {
      const group = groups.get(value)!;
      const exactMatch = share(group, 'exactMatch', seed);
      const taskSuccess = share(group, 'taskSuccess', seed);
      return value === '' ? [] : [{ by, value, exactMatch, taskSuccess }];
    });
  });
}

function counts<Name extends string>(names: readonly Name[], of: readonly (Name | null)[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, of.filter((other) => other === name).length])) as Record<
    Name,
    number
  >;
}

/** What all arms of a run share. */
interface ResultsSettings {
  readonly regime: Regime;
  readonly seed: number;
  /** Whether the scores of the turns say anything; where they do not, they are null and nothing is counted. */
  readonly judged: boolean;
}

/** What one arm comes to; cost columns over the turns that are seen for `dki`, the same for every arm. */
export function armResults(
  arm: ArmTraits,
  answered: readonly AnsweredTurn[],
  errors: number,
  { regime, seed, judged }: ResultsSettings,
): ArmResults {
  const seenTurns = answered.filter(regime.isSeen);
  const reuse = (kind: 'new' | 'seen'): number => answered.filter((turn) => turn.evidence.reuse === kind).length;
  const quality = Object.fromEntries(SHARES.map((metric) => [metric, share(answered, metric, seed)]));
  const metrics = {
    ...quality,
    goldLogProbability: estimateMean(
      perItem(answered, (turn) => turn.evidence.goldLogProbability),
      seed,
    ),
    ttftMs: latency(seenTurns, 'firstToken', seed),
    totalMs: latency(seenTurns, 'total', seed),
  } as Record<QualityMetric | 'ttftMs' | 'totalMs', Estimate | null>;
  const kept = reuse('new') + reuse('seen');
  const injects = arm.injects !== 'nothing';
  const funnel = counts(
    STAGES,
    answered.flatMap((turn) => turn.scores.passedStages),
  );
  return {
    arm: arm.name,
    n: answered.length,
    errors,
    metrics,
    breakdown: breakdown(answered, seed),
    tokens: seenTurns.length === 0 ? null : tokenMeans(seenTurns),
    turns: {
      new: injects ? reuse('new') : answered.filter(regime.isNew).length,
      seen: injects ? reuse('seen') : seenTurns.length,
      exempt: answered.filter((turn) => (injects ? turn.evidence.reuse === 'none' : turn.keptMemories === 0)).length,
    },
    costNew: cost(answered.filter(regime.isNew), seed),
    costAll: cost(answered, seed),
    hitRate: !injects || kept === 0 ? null : reuse('seen') / kept,
    wrong: judged
      ? counts(
          WRONG_CLASSES,
          answered.map((turn) => turn.scores.wrongClass),
        )
      : null,
    funnel: judged ? funnel : { ...funnel, answered: null },
  };
}
