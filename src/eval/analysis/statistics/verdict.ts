import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { Verdict } from '../../../store/records/run-results.ts';
import { holm } from './holm.ts';
import { TAIL } from './intervals.ts';
import type { PairedDifference } from './paired-difference.ts';
import { neededItems } from './power.ts';

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
