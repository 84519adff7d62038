import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { MetricDeclaration } from '../../store/records/run-description.ts';
import type { Estimate } from '../../store/records/estimate.ts';
import { designEffect } from './statistics/design-effect.ts';
import { estimateMean, estimateShare } from './statistics/estimate.ts';
import { type Observation, perItem, unitTotals } from './statistics/observations.ts';
import { isPooled } from './summary/design-effects.ts';

/** A turn as far as partial results need it. */
interface CountedTurn {
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

/** Running results of the primary metric by arm. */
export class PartialResults {
  readonly #metric: Pick<MetricDeclaration, 'unit'>;
  readonly #arms: readonly { readonly traits: ArmTraits; n: number; errors: number; readonly values: Observation[] }[];

  constructor(arms: readonly ArmTraits[], metric: Pick<MetricDeclaration, 'unit'>) {
    this.#metric = metric;
    this.#arms = arms.map((traits) => ({ traits, n: 0, errors: 0, values: [] }));
  }

  /** Adds all turns of one user, once. */
  add(turns: readonly CountedTurn[]): void {
    for (const arm of this.#arms) {
      const own = turns.filter((turn) => turn.arm === arm.traits.name);
      const answered = own.filter(({ failed }) => !failed);
      arm.n += answered.length;
      arm.errors += own.length - answered.length;
      arm.values.push(...perItem(answered, ({ value }) => value));
    }
  }

  /** In the order of the run. */
  arms(): PartialArm[] {
    const pooled = this.#arms.filter(({ traits, values }) => isPooled(traits) && values.length > 0);
    const effect = pooled.length === 0 ? undefined : designEffect(pooled.map(({ values }) => unitTotals(values)));
    return this.#arms.map(({ traits, n, errors, values }) => {
      const estimate = this.#metric.unit === '%' ? estimateShare(values, effect) : estimateMean(values);
      return { arm: traits.name, n, errors, estimate };
    });
  }
}
