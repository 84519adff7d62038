import { groupBy } from '../group-by.ts';
import { turnKey } from '../gates/gate.ts';
import type { Comparison } from '../results.ts';
import { bootstrapDifference, type Interval } from '../statistics/bootstrap.ts';
import { clopperPearson } from '../statistics/clopper-pearson.ts';
import { effectiveItems } from '../statistics/design-effect.ts';
import { holm } from '../statistics/holm.ts';
import { minimumDetectableEffect } from '../statistics/minimum-detectable-effect.ts';
import { meanOf, differences, type PairedObservation } from '../statistics/observations.ts';
import { judgeLatency, noiseFloor, pairedLatency } from '../statistics/paired-latency.ts';
import { signFlipP } from '../statistics/sign-flip.ts';
import { judgeQuality } from '../statistics/verdict.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { paired, perItem } from './per-item.ts';
import type { Regime } from './regime.ts';

/** Named before anything was measured: the hand-overs whose quality is tested against `rag`. */
const FAMILY = ['rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel'];
const BASE = 'rag';

interface Turns {
  readonly byArm: ReadonlyMap<string, readonly AnsweredTurn[]>;
  readonly regime: Regime;
  readonly seed: number;
  readonly margin: number;
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
function identical(a: readonly AnsweredTurn[], b: readonly AnsweredTurn[]): boolean {
  const others = new Map(b.map((turn) => [turnKey(turn), turn]));
  return (
    a.length === b.length &&
    a.every((turn) => {
      const other = others.get(turnKey(turn));
      return (
        other?.answer === turn.answer &&
        turn.evidence.sequenceSha256 === other.evidence.sequenceSha256 &&
        turn.evidence.parity?.bitwiseEqual === true &&
        other.evidence.parity?.bitwiseEqual === true
      );
    })
  );
}

/** Where no pair differs no resample would: then as many as Clopper and Pearson allow may differ, either way. */
export function differenceInterval(pairs: readonly PairedObservation[], seed: number): Interval {
  const deltas = differences(pairs);
  if (deltas.some(({ value }) => value !== 0)) return bootstrapDifference(pairs, seed);
  const { high } = clopperPearson(0, effectiveItems(deltas));
  return { low: -high, high };
}

function quality(arm: string, { byArm, seed, margin }: Turns): Comparison | null {
  const [a, b] = [byArm.get(arm)!, byArm.get(BASE)!];
  const exactMatch = (turn: AnsweredTurn): number | null => turn.scores.exactMatch;
  const pairs = paired(perItem(a, exactMatch), perItem(b, exactMatch));
  if (pairs.length === 0) return null;
  const delta = meanOf(differences(pairs));
  const same = identical(a, b);
  const interval = same ? { low: 0, high: 0 } : differenceInterval(pairs, seed);
  const judgement = judgeQuality({ delta, ...interval, n: pairs.length, identical: same }, margin / 100);
  return {
    a: arm,
    b: BASE,
    metric: 'exactMatch',
    delta,
    ...interval,
    ...tally(pairs, 'higher'),
    detectable: minimumDetectableEffect(pairs) || null,
    p: FAMILY.includes(arm) ? signFlipP(pairs, seed) : null,
    pAdjusted: null,
    ...judgement,
  };
}

function latency(arm: string, { byArm, regime, seed }: Turns): Comparison | null {
  const ttft = (turn: AnsweredTurn): number => turn.timings.firstToken;
  const seen = (name: string): ReturnType<typeof perItem> => perItem(byArm.get(name)!.filter(regime.isSeen), ttft);
  const pairs = paired(seen(arm), seen(BASE));
  if (pairs.length === 0) return null;
  const twin = byArm.has('rag-twin') ? paired(seen('rag-twin'), seen(BASE)) : [];
  const { delta, low, high } = pairedLatency(pairs, seed);
  return {
    a: arm,
    b: BASE,
    metric: 'ttftLogRatio',
    delta,
    low,
    high,
    ...tally(pairs, 'lower'),
    detectable: null,
    p: null,
    pAdjusted: null,
    verdict:
      twin.length === 0
        ? 'not judged'
        : judgeLatency({ delta, low, high, n: pairs.length, users: 0 }, noiseFloor(pairedLatency(twin, seed))),
  };
}

function evaluatedTokens(arm: string, { byArm, regime, seed }: Turns): Comparison | null {
  const evaluated = (turn: AnsweredTurn): number => turn.tokens.evaluated;
  const seen = (name: string): ReturnType<typeof perItem> => perItem(byArm.get(name)!.filter(regime.isSeen), evaluated);
  const pairs = paired(seen(arm), seen(BASE));
  if (pairs.length === 0) return null;
  return {
    a: arm,
    b: BASE,
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

/** Every arm against `rag`, paired by item: exact match, and on seen turns time to first token and evaluated tokens. */
export function compareWithRag(
  answered: readonly AnsweredTurn[],
  arms: readonly string[],
  regime: Regime,
  settings: { readonly seed: number; readonly margin: number },
): Comparison[] {
  const byArm = groupBy(answered, (turn) => turn.arm);
  if (!byArm.has(BASE)) return [];
  const turns: Turns = { byArm, regime, ...settings };
  const others = arms.filter((arm) => arm !== BASE && byArm.has(arm));
  const all = (compare: (arm: string, turns: Turns) => Comparison | null): Comparison[] =>
    others.flatMap((arm) => compare(arm, turns) ?? []);
  return [...adjusted(all(quality)), ...all(latency), ...all(evaluatedTokens)];
}
