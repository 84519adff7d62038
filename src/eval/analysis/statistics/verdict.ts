import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { Verdict } from '../../../store/records/run-results.ts';
import { TAIL } from './intervals.ts';
import type { PairedDifference } from './paired-difference.ts';
import { studentQuantile } from './distributions.ts';

/** Fewer users than these do not stand for others: numbers are given, and no verdict. */
export const MIN_USERS = 10;
/** Two-sided level of a family. */
export const LEVEL = 0.05;

/** Points of `--margin` where it is not given. */
const PRESET_MARGIN = 2;

/** The margin of a metric in the scale of its values: its own, but for metrics in % where `--margin` says otherwise. */
export function marginOf({ unit, margin }: Pick<MetricDeclaration, 'unit' | 'margin'>, points: number): number {
  if (unit !== '%') return margin;
  return (points === PRESET_MARGIN ? margin : points) / 100;
}

export interface FamilyMember {
  readonly gain: PairedDifference;
  readonly users: number;
  readonly identical: boolean;
  /** Two-sided p of "no difference"; null for an arm that no test was planned for. */
  readonly p: number | null;
  /** Design effect of shares; undefined for values of any range. */
  readonly effect: number | undefined;
}

export interface Judgement {
  /** Over the family (Holm); null where nothing was planned. */
  readonly pAdjusted: number | null;
  /** One-sided p of "the loss is the margin or more", over the family (Holm); null where nothing was planned. */
  readonly pKept: number | null;
  readonly verdict: Extract<Verdict, 'identical' | 'kept' | 'lost' | 'undecided' | 'too few users' | 'not judged'>;
  /** Items that would decide; absent where decided, or where no number means anything. */
  readonly neededItems?: number;
}

/**
 * Judges planned arms by one metric, as a family: kept if a loss of the margin is refuted (one-sided, 2.5 %), else lost if a
 * loss is shown (two-sided, 5 %), else undecided. @param margin in the scale of the values: 0.02 for two points
 */
export function judgeFamily(members: readonly FamilyMember[], margin: number): Judgement[] {
  const planned = members.filter(({ p }) => p !== null);
  const differs = holm(planned.map(({ p }) => p!));
  const kept = holm(planned.map(({ gain }) => gain.pAbove(-margin)));
  return members.map((member): Judgement => {
    const { gain, users, identical, effect } = member;
    const place = planned.indexOf(member);
    if (place === -1) {
      return { pAdjusted: null, pKept: null, verdict: identical ? 'identical' : 'not judged' };
    }
    const tested = { pAdjusted: differs[place]!, pKept: kept[place]! };
    if (identical) return { ...tested, verdict: 'identical' };
    if (users < MIN_USERS) return { ...tested, verdict: 'too few users' };
    if (tested.pKept < TAIL) return { ...tested, verdict: 'kept' };
    if (tested.pAdjusted < LEVEL && gain.delta < 0) return { ...tested, verdict: 'lost' };
    const needed = neededItems(gain, margin, { tests: planned.length, effect });
    return { ...tested, verdict: 'undecided', ...(needed === undefined ? {} : { neededItems: needed }) };
  });
}

/** With so many degrees of freedom Student's t is the normal distribution, to four digits. */
const MANY = 100_000;
/** Of a test that finds what is there four times in five. */
const MISSES = 0.2;

/** The least true difference found at p < 0.05 with 80 % power: 2.8 standard errors. @see Bloom 1995 */
export function minimumDetectableEffect({ error }: Pick<PairedDifference, 'error'>): number {
  return (studentQuantile(TAIL, MANY) + studentQuantile(MISSES, MANY)) * error;
}

/**
 * The items, of proportionally more users, with which arms that do not differ would be called kept four times in five, if
 * they go on to differ as much by the item; for shares also more than it takes where none differs at all. Undefined where that
 * number means nothing: the interval leaves out zero, there is no margin, or the items are there already.
 * @param tests arms of the family, among which the level is divided
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

/** Holm's adjustment of p values, in the order given: the i-th smallest of m times m − i + 1. @see Holm 1979 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(pValues.length);
  let least = 0;
  order.forEach(({ p, index }, rank) => {
    least = Math.max(least, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = least;
  });
  return adjusted;
}
