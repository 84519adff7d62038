import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { Verdict } from '../../../store/records/run-results.ts';
import { holm } from './holm.ts';
import { TAIL } from './intervals.ts';
import type { PairedDifference } from './paired-difference.ts';
import { neededItems } from './power.ts';

/** With fewer users, results have numbers but no verdicts. */
export const MIN_USERS = 10;
/** Two-sided significance level of a family of tests. */
export const LEVEL = 0.05;

/** Default of `--margin`, in points. */
const DEFAULT_MARGIN = 2;

/** The margin of a metric in the scale of its values. In %, a `--margin` that is not the default replaces it. */
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
  /** Design effect of shares; undefined for values of any range. */
  readonly effect: number | undefined;
}

export interface Judgement {
  /** `p`, adjusted over the family (Holm); null if no test was planned. */
  readonly pAdjusted: number | null;
  /** One-sided p of "the loss is the margin or more", adjusted likewise. */
  readonly pKept: number | null;
  readonly verdict: Extract<Verdict, 'identical' | 'kept' | 'lost' | 'undecided' | 'too few users' | 'not judged'>;
  /** Items that would decide; absent if decided, or if no number is meaningful. */
  readonly neededItems?: number;
}

/**
 * Judges planned arms by one metric, as a family: kept if a loss of the margin is refuted (one-sided, 2.5 %), else lost
 * if a loss is shown (two-sided, 5 %), else undecided. @param margin in the scale of the values: 0.02 is two points
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
