import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { Verdict } from '../../../store/records/run-results.ts';
import { holm } from './p-values.ts';
import { TAIL } from './intervals.ts';
import type { PairedDifference } from './paired-difference.ts';
import { studentQuantile } from './distributions.ts';

/** Degrees of freedom at which Student's t equals the normal distribution to four digits. */
const MANY = 100_000;
/** 1 − power: one true difference in five is missed. */
const MISSES = 0.2;

/** The least true difference found at p < 0.05 with 80 % power: 2.8 standard errors. @see Bloom 1995 */
export function minimumDetectableEffect({ error }: Pick<PairedDifference, 'error'>): number {
  return (studentQuantile(TAIL, MANY) + studentQuantile(MISSES, MANY)) * error;
}

/**
 * The number of items, from proportionally more users, at which an arm that equals the baseline would be judged kept
 * with 80 % power, given the observed spread; for shares, at least the number needed if no item differs. Undefined if
 * meaningless: the interval excludes zero, the margin is 0, or there are enough items already.
 * @param tests number of tests in the family, which share the level
 * @param effect design effect of shares; undefined for values of any range
 */
export function neededItems(
  { interval, error, items }: PairedDifference,
  margin: number,
  { tests, effect }: { readonly tests: number; readonly effect: number | undefined },
): number | undefined {
  if (!(interval.low <= 0 && interval.high >= 0) || !(margin > 0) || !Number.isFinite(error)) return undefined;
  const z = studentQuantile(TAIL / tests, MANY);
  const bySpread = items * (((z + studentQuantile(MISSES, MANY)) * error) / margin) ** 2;
  const byTies = effect === undefined ? 0 : effect * z ** 2 * (1 / margin - 1);
  const needed = Math.ceil(Math.max(bySpread, byTies));
  return needed > items ? needed : undefined;
}

/** With fewer users, results have numbers but no verdicts. */
export const MIN_USERS = 10;
/** Two-sided significance level of a family of tests. */
export const LEVEL = 0.05;

/** Default of `--margin`, in points. */
const DEFAULT_MARGIN = 2;

/**
 * The largest loss that still counts as none, in the scale of the values. For a metric in %, a value of `--margin` other
 * than the default replaces the metric's own margin. @param points the value of `--margin`
 */
export function marginOf({ unit, margin }: Pick<MetricDeclaration, 'unit' | 'margin'>, points: number): number {
  if (unit !== '%') return margin;
  return (points === DEFAULT_MARGIN ? margin : points) / 100;
}

export interface FamilyMember {
  readonly gain: PairedDifference;
  readonly users: number;
  readonly identical: boolean;
  /** Two-sided p of "no difference"; null for an arm that no test was planned for. */
  readonly p: number | null;
  /** Design effect of a metric in %; undefined for other metrics. */
  readonly effect: number | undefined;
}

export interface Judgement {
  /** `p`, adjusted over the family (Holm); null if no test was planned. */
  readonly pAdjusted: number | null;
  /** One-sided p of "the loss is the margin or more", adjusted likewise. */
  readonly pKept: number | null;
  readonly verdict: Extract<Verdict, 'identical' | 'kept' | 'lost' | 'undecided' | 'too few users' | 'not judged'>;
  /** Items that an undecided verdict needs; absent if decided, or if more items would not help. */
  readonly neededItems?: number;
}

/**
 * Judges planned arms by one metric, as a family. Kept: the loss is shown to be smaller than the margin (one-sided, 2.5 %). Lost:
 * it is not, and a loss is shown (two-sided, 5 %). Undecided: neither. @param margin in the scale of the values: 0.02 is two points
 */
export function judgeFamily(members: readonly FamilyMember[], margin: number): Judgement[] {
  const planned = members.filter(({ p }) => p !== null);
  const differs = holm(planned.map(({ p }) => p!));
  const kept = holm(planned.map(({ gain }) => gain.pAbove(-margin)));
  return members.map((member): Judgement => {
    const { gain, users, identical, effect } = member;
    const place = planned.indexOf(member);
    if (place === -1) return { pAdjusted: null, pKept: null, verdict: identical ? 'identical' : 'not judged' };
    const tested = { pAdjusted: differs[place]!, pKept: kept[place]! };
    if (identical) return { ...tested, verdict: 'identical' };
    if (users < MIN_USERS) return { ...tested, verdict: 'too few users' };
    if (tested.pKept < TAIL) return { ...tested, verdict: 'kept' };
    if (tested.pAdjusted < LEVEL && gain.delta < 0) return { ...tested, verdict: 'lost' };
    const needed = neededItems(gain, margin, { tests: planned.length, effect });
    return { ...tested, verdict: 'undecided', ...(needed === undefined ? {} : { neededItems: needed }) };
  });
}
