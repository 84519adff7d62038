import type { ArmResults, BreakdownPart, Cost, FunnelStage, WrongClass } from '../results.ts';
import { groupBy } from '../group-by.ts';
import type { ArmTraits } from '../run/arms.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import type { Regime } from './regime.ts';
import { latencyOf, phaseMeans, qualityOf, shareOf, tokenMeans } from './turn-means.ts';

const WRONG_CLASSES: readonly WrongClass[] = [
  'wrong-abstention',
  'stale',
  'confused',
  'near-copy',
  'fabricated',
  'off-topic',
];
const STAGES: readonly FunnelStage[] = ['stored', 'recalled', 'kept', 'sequence', 'answered'];
function cost(turns: readonly AnsweredTurn[], seed: number): Cost | null {
  const ttftMs = latencyOf(turns, 'firstToken', seed);
  const totalMs = latencyOf(turns, 'total', seed);
  if (ttftMs === null || totalMs === null) return null;
  return { turns: turns.length, tokens: tokenMeans(turns), phasesMs: phaseMeans(turns), ttftMs, totalMs };
}

function breakdown(turns: readonly AnsweredTurn[], seed: number): BreakdownPart[] {
  return (['userKind', 'category', 'phrasing', 'language'] as const).flatMap((by) => {
    const groups = groupBy(turns, (turn) => turn.item[by] ?? '');
    const named = [...groups.keys()].sort().filter((value) => value !== '');
    return named.map((value) => {
      const of = (metric: Parameters<typeof shareOf>[1]) => shareOf(groups.get(value)!, metric, seed);
      const part = { by, value, exactMatch: of('exactMatch'), taskSuccess: of('taskSuccess') };
      if (by !== 'language') return part;
      return { ...part, tokenF1: of('tokenF1'), memoryRecall: of('memoryRecall'), abstention: of('abstention') };
    });
  });
}

function counts<Name extends string>(names: readonly Name[], of: readonly (Name | null)[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, of.filter((other) => other === name).length])) as Record<
    Name,
    number
  >;
}

function aheadOf(turns: readonly AnsweredTurn[]): Pick<ArmResults, 'ahead'> {
  const [tokens, ms] = [
    turns.flatMap((turn) => turn.evidence.aheadTokens ?? []),
    turns.map((turn) => turn.evidence.aheadMs ?? 0),
  ];
  if (tokens.length === 0) return {};
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / turns.length;
  return { ahead: { tokens: mean(tokens), ms: mean(ms) } };
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
  const metrics = {
    ...qualityOf(answered, seed),
    ttftMs: latencyOf(seenTurns, 'firstToken', seed),
    totalMs: latencyOf(seenTurns, 'total', seed),
  };
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
      exempt: answered.filter((turn) => (injects ? turn.evidence.reuse === 'none' : turn.prompt.keptMemories === 0))
        .length,
    },
    costSeen: cost(seenTurns, seed),
    costNew: cost(answered.filter(regime.isNew), seed),
    costAll: cost(answered, seed),
    ...aheadOf(answered),
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
