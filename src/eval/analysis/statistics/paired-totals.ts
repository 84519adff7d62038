import { differences, type PairedObservation, type UnitTotals, unitTotals } from './observations.ts';

/** Two arms on the same items. */
export interface PairedTotals {
  /** Of a − b. */
  readonly differences: UnitTotals;
  /** Sum of the differences above zero, and, without their sign, of those below. */
  readonly gained: number;
  readonly lost: number;
}

/** Totals of paired values by unit. */
export function pairedTotals(pairs: readonly PairedObservation[]): PairedTotals {
  let [gained, lost] = [0, 0];
  for (const { a, b } of pairs) {
    if (a > b) gained += a - b;
    else lost += b - a;
  }
  return { differences: unitTotals(differences(pairs)), gained, lost };
}
