/** A 95 % interval; infinite bounds where nothing bounds it. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The interval of what nothing is known of. */
export const unbounded: Interval = { low: -Infinity, high: Infinity };

/** The share that a 95 % interval leaves out on either side. */
export const TAIL = 0.025;
