import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { MetricDeclaration } from '../../store/records/run-description.ts';
import type { Estimate } from '../../store/records/estimate.ts';
import { designEffect } from './statistics/design-effect.ts';
import { meanInterval, shareInterval } from './statistics/intervals.ts';
import { perItem, sum, type UnitTotals } from './statistics/observations.ts';
import { isPooled } from './summary/design-effects.ts';

/** A turn as far as partial results need it. */
export interface CountedTurn {
  readonly userId: string;
  readonly itemId: string;
  readonly arm: string;
  readonly failed: boolean;
  /** Of the primary metric; null where it has no value for the item. */
  readonly value: number | null;
}

/** The quality of an arm over the users whose turns are complete. */
export interface PartialArm {
  readonly arm: string;
  /** Answered turns. */
  readonly n: number;
  readonly errors: number;
  /** Of the primary metric; null without a value. */
  readonly estimate: Estimate | null;
}

/** Totals of one arm, one entry a user with a value. */
interface ArmTotals {
  n: number;
  errors: number;
  readonly sums: number[];
  readonly counts: number[];
  squares: number;
  /** The values of the first user: a single user is no sample of users, and each value is a unit. */
  first: readonly number[];
}

function unitTotals({ sums, counts, squares, first }: ArmTotals): UnitTotals {
  return sums.length === 1 ? { sums: first, counts: first.map(() => 1), squares } : { sums, counts, squares };
}

/** Running results of the primary metric by arm: adding a user costs the same however many there were before. */
export class PartialResults {
  readonly #arms: readonly ArmTraits[];
  readonly #metric: Pick<MetricDeclaration, 'unit'>;
  readonly #totals: ReadonlyMap<string, ArmTotals>;

  constructor(arms: readonly ArmTraits[], metric: Pick<MetricDeclaration, 'unit'>) {
    this.#arms = arms;
    this.#metric = metric;
    this.#totals = new Map(
      arms.map(({ name }) => [name, { n: 0, errors: 0, sums: [], counts: [], squares: 0, first: [] }]),
    );
  }

  /** Adds all turns of one user, once. */
  add(turns: readonly CountedTurn[]): void {
    for (const [arm, own] of Map.groupBy(turns, (turn) => turn.arm)) {
      const totals = this.#totals.get(arm);
      if (totals === undefined) continue;
      const answered = own.filter(({ failed }) => !failed);
      totals.n += answered.length;
      totals.errors += own.length - answered.length;
      const values = perItem(answered, ({ value }) => value).map(({ value }) => value);
      if (values.length === 0) continue;
      if (totals.sums.length === 0) totals.first = values;
      totals.sums.push(sum(values));
      totals.counts.push(values.length);
      totals.squares += sum(values.map((value) => value ** 2));
    }
  }

  /** In the order of the run. */
  arms(): PartialArm[] {
    const pooled = this.#arms
      .filter(isPooled)
      .map(({ name }) => this.#totals.get(name)!)
      .filter(({ sums }) => sums.length > 0);
    const effect = pooled.length === 0 ? undefined : designEffect(pooled.map(unitTotals));
    return [...this.#totals].map(([arm, totals]) => {
      const { n, errors, sums, counts } = totals;
      if (sums.length === 0) return { arm, n, errors, estimate: null };
      const items = sum(counts);
      const units = unitTotals(totals);
      const interval = this.#metric.unit === '%' ? shareInterval(units, effect) : meanInterval(units);
      return { arm, n, errors, estimate: { mean: sum(sums) / items, ...interval, n: items, users: sums.length } };
    });
  }
}
