import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { CheckResult } from '../../../store/records/run-results.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns, type RunTurns, turnsOfArm } from '../turns-by-arm.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import type { RunSample } from '../planned-sample.ts';

export interface CheckInput extends RunTurns {
  readonly arms: readonly ArmTraits[];
  readonly probes: RunProbes;
  readonly metrics: RunMetrics;
  readonly seed: number;
  readonly plan: RunSample;
  /** False for `--no-text`: answers and golds are hashes. */
  readonly textsStored: boolean;
  /** The model has random weights, so that its answers prove nothing. */
  readonly randomWeights: boolean;
}

/** What a check found. Its name is the key of the check in `decide-checks.ts`. */
export type Finding = Omit<CheckResult, 'check'>;

export type Check = (input: CheckInput) => Finding;

/** A check that applies to some runs only; null for the others. */
export type OptionalCheck = (input: CheckInput) => Finding | null;

/** @param evidence one line that a reader can verify @param detects the smallest effect that would have failed the check */
export function pass(evidence: string, detects: string): Finding {
  return { status: 'passed', evidence, detects };
}

export function fail(evidence: string): Finding {
  return { status: 'failed', evidence };
}

export function undecided(reason: string): Finding {
  return { status: 'undecided', evidence: reason };
}

/** The smallest share of faulty cases that a random sample of `n` finds with 95 % certainty: `26.0 %`. */
export function sampledShare(n: number): string {
  return `${(100 * (1 - 0.05 ** (1 / n))).toFixed(1)} %`;
}

/** Up to three turns for a line of evidence, of different arms if possible. */
export function examples(turns: readonly { readonly arm: string; readonly itemId: string }[]): string {
  const firsts = [...Map.groupBy(turns, ({ arm }) => arm).values()].map(([first]) => first!);
  const shown = [...new Set([...firsts, ...turns])].slice(0, 3).map(({ arm, itemId }) => `${arm} on ${itemId}`);
  return shown.join(', ') + (turns.length > shown.length ? ', …' : '');
}

/** Describes each fault, with examples; empty if no turn has any. @param faults turns by their fault */
export function describeFaults(faults: Readonly<Record<string, Turns>>, noun = 'turns'): string {
  return Object.entries(faults)
    .filter(([, turns]) => turns.length > 0)
    .map(([fault, turns]) => `${turns.length} ${noun} ${fault}: ${examples(turns)}`)
    .join('; ');
}

/** Pairs the turns of an arm and its reference arm that follow the same conversation. */
export function pairWithReference(answered: Turns, arm: string, reference: string) {
  const counterpart = counterpartIn(turnsOfArm(answered, reference));
  return turnsOfArm(answered, arm).flatMap((turn) => {
    const other = counterpart(turn);
    return other?.facts.historySha256 === turn.facts.historySha256 ? [{ turn, other }] : [];
  });
}

export function turnsWhere(
  pairs: ReturnType<typeof pairWithReference>,
  holds: (turn: AnsweredResult, other: AnsweredResult) => boolean,
): Turns {
  return pairs.filter(({ turn, other }) => holds(turn, other)).map(({ turn }) => turn);
}
