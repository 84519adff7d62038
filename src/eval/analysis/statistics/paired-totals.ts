import { differences, type PairedObservations, type UnitTotals, unitTotals } from './observations.ts';

/** Two arms on the same items. */
export interface PairedTotals {
  /** Of a − b. */
  readonly differences: UnitTotals;
  /** Sum of the differences above zero, and, without their sign, of those below. */
  readonly gained: number;
  readonly lost: number;
}

/** Totals of paired values by unit. */
export function pairedTotals(pairs: PairedObservations): PairedTotals {
  const found = differences(pairs);
  let [gained, lost] = [0, 0];
  for (const difference of found.values) {
    if (difference > 0) gained += difference;
    else lost -= difference;
  }
  return { differences: unitTotals(found), gained, lost };
}
