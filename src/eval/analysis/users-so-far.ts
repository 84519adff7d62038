import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { MetricDeclaration } from '../../store/records/metric-declaration.ts';
import type { Estimate } from '../../store/records/results.ts';
import { designEffect } from './statistics/design-effect.ts';
import { meanInterval } from './statistics/mean-interval.ts';
import type { UnitTotals } from './statistics/observations.ts';
import { perItem } from './statistics/per-item.ts';
import { shareInterval } from './statistics/share-interval.ts';
import { isPooled } from './summary/design-effects.ts';

/** A turn as far as it is counted. */
export interface CountedTurn {
  readonly userId: string;
  readonly itemId: string;
  readonly arm: string;
  readonly failed: boolean;
  /** Of the primary metric; null where it is not defined of the item. */
  readonly value: number | null;
}

/** The quality of an arm over the users whose turns are all there. */
export interface ArmSoFar {
  readonly arm: string;
  /** Answered turns. */
  readonly n: number;
  readonly errors: number;
  /** Of the primary metric; null without a value. */
  readonly estimate: Estimate | null;
}

const NOBODY = new Float64Array();

/** Totals of one arm: an entry a user of whom there is a value. */
interface ArmTotals {
  n: number;
  errors: number;
  readonly sums: number[];
  readonly counts: number[];
  squares: number;
  /** Values of the only user; a single user is no sample of users. */
  alone: Float64Array;
}

function unitsOf({ sums, counts, squares, alone }: ArmTotals): UnitTotals {
  const units = sums.length === 1 ? alone : sums;
  return {
    sums: Float64Array.from(units),
    counts: sums.length === 1 ? new Float64Array(units.length).fill(1) : Float64Array.from(counts),
    squares,
  };
}

/**
 * The primary metric of each arm, user by user as they come: with the estimates of the results of these users, and a cost that
 * does not grow with the turns of those who were added before.
 */
export class UsersSoFar {
  readonly #arms: readonly ArmTraits[];
  readonly #metric: Pick<MetricDeclaration, 'unit'>;
  readonly #totals: ReadonlyMap<string, ArmTotals>;

  constructor(arms: readonly ArmTraits[], metric: Pick<MetricDeclaration, 'unit'>) {
    this.#arms = arms;
    this.#metric = metric;
    const none = (): ArmTotals => ({ n: 0, errors: 0, sums: [], counts: [], squares: 0, alone: NOBODY });
    this.#totals = new Map(arms.map(({ name }) => [name, none()]));
  }

  /** Adds all turns of one user, who was not added before. */
  add(turns: readonly CountedTurn[]): void {
    for (const [arm, ofArm] of Map.groupBy(turns, (turn) => turn.arm)) {
      const totals = this.#totals.get(arm);
      if (totals === undefined) continue;
      const answered = ofArm.filter(({ failed }) => !failed);
      totals.n += answered.length;
      totals.errors += ofArm.length - answered.length;
      const { values } = perItem(answered, ({ value }) => value);
      if (values.length === 0) continue;
      totals.alone = totals.sums.length === 0 ? values : NOBODY;
      totals.sums.push(values.reduce((sum, value) => sum + value, 0));
      totals.counts.push(values.length);
      totals.squares += values.reduce((sum, value) => sum + value ** 2, 0);
    }
  }

  /** In the order of the run. */
  arms(): ArmSoFar[] {
    const units = new Map([...this.#totals].map(([arm, totals]) => [arm, unitsOf(totals)]));
    const pooled = this.#arms.filter(isPooled).flatMap(({ name }) => {
      const totals = units.get(name)!;
      return totals.sums.length === 0 ? [] : [totals];
    });
    const effect = pooled.length === 0 ? undefined : designEffect(pooled);
    return [...this.#totals].map(([arm, { n, errors, sums, counts }]) => {
      if (sums.length === 0) return { arm, n, errors, estimate: null };
      const totals = units.get(arm)!;
      const items = counts.reduce((sum, count) => sum + count, 0);
      const interval = this.#metric.unit === '%' ? shareInterval(totals, effect) : meanInterval(totals);
      const mean = sums.reduce((sum, value) => sum + value, 0) / items;
      return { arm, n, errors, estimate: { mean, ...interval, n: items, users: sums.length } };
    });
  }
}
