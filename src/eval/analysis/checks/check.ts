import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { CheckName, CheckResult } from '../../../store/records/results.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { TurnsOfRun } from '../turns-of-run.ts';

/** Questions of a run, and how often each arm was to be asked them. */
export interface RunSample {
  readonly items: number;
  /** Of these, those that arms which are given the evidence are not asked. */
  readonly withoutEvidence: number;
  readonly repeats: number;
  /** The part of the run that this is, `i/n`; missing of a whole one. */
  readonly shard?: string;
}

/** All that a check may look at. */
export interface CheckInput extends TurnsOfRun {
  readonly arms: readonly ArmTraits[];
  readonly probes: RunProbes;
  readonly metrics: RunMetrics;
  readonly seed: number;
  /** The extent of the run as it was planned, before any turn. */
  readonly plan: RunSample;
  /** False for `--no-text`: answers and golds are hashes, which are equal or not, and nothing else. */
  readonly textsStored: boolean;
  /** The model knows nothing: nobody can see from its answers who was told a secret. */
  readonly randomWeights: boolean;
}

/** One thing that a run verifies about itself: passed, failed, or undecided by these arms, this model or this n. */
export type Check = (input: CheckInput) => CheckResult;

/** A check of what not every run has: null for a run without it. */
export type CheckOfSome = (input: CheckInput) => CheckResult | null;

/** @param evidence one line that a reader can verify */
export function decided(check: CheckName, passed: boolean, evidence: string): CheckResult {
  return { check, status: passed ? 'passed' : 'failed', evidence };
}

export function undecided(check: CheckName, reason: string): CheckResult {
  return { check, status: 'undecided', evidence: reason };
}

/** A few of many, for a line of evidence; of as many arms as there is room for. */
export function examples(turns: readonly { readonly arm: string; readonly itemId: string }[]): string {
  const first = turns.filter(({ arm }, index) => turns.findIndex((turn) => turn.arm === arm) === index);
  const ordered = [...first, ...turns.filter((turn) => !first.includes(turn))];
  const shown = ordered.slice(0, 3).map((turn) => `${turn.arm} on ${turn.itemId}`);
  return shown.join(', ') + (turns.length > shown.length ? ', …' : '');
}
