import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { RunRecord } from '../../store/records/run-record.ts';

export interface RunSample {
  readonly items: number;
  /** Items without evidence, which arms that retrieve the evidence skip. */
  readonly withoutEvidence: number;
  /** Items that twins and controls with another user's memories answer; missing for all. */
  readonly controlItems?: number;
  readonly repeats: number;
  /** Shard `i/n`; missing for a whole run. */
  readonly shard?: string;
  /** `--kv-store`: KV outlives a repeat, so that the next one finds it. */
  readonly sharesKv?: boolean;
}

export function plannedSample({ dataset, plan }: Pick<RunRecord, 'dataset' | 'plan'>): RunSample {
  const { repeats = 1 } = plan.settings as { readonly repeats?: number };
  const { shard } = plan.settings;
  const sharesKv = (plan.settings as { readonly kvStore?: unknown }).kvStore !== undefined;
  const extent = {
    items: dataset.items,
    withoutEvidence: dataset.withoutEvidence ?? 0,
    ...(dataset.controlItems === undefined ? {} : { controlItems: dataset.controlItems }),
    repeats,
    ...(sharesKv ? { sharesKv } : {}),
  };
  return shard === undefined ? extent : { ...extent, shard };
}

/** True for a twin, and for a control with another user's memories: they answer a sample of the items. */
export function answersControlItems({ control, retrieves }: Pick<ArmTraits, 'control' | 'retrieves'>): boolean {
  return control === 'twin' || (control === 'negative' && retrieves === 'donor');
}

export function plannedTurns(arms: readonly ArmTraits[], plan: RunSample): number {
  const { items, withoutEvidence, controlItems = items, repeats } = plan;
  const perRepeat = arms.map((arm) => {
    if (arm.retrieves === 'evidence') return items - withoutEvidence;
    return answersControlItems(arm) ? controlItems : items;
  });
  return repeats * perRepeat.reduce((sum, turns) => sum + turns, 0);
}
