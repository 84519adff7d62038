import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { RunRecord } from '../../store/records/run-record.ts';

export interface RunSample {
  readonly items: number;
  /** Items without evidence, which arms that retrieve the evidence skip. */
  readonly withoutEvidence: number;
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
    repeats,
    ...(sharesKv ? { sharesKv } : {}),
  };
  return shard === undefined ? extent : { ...extent, shard };
}

export function plannedTurns(arms: readonly ArmTraits[], { items, withoutEvidence, repeats }: RunSample): number {
  const perRepeat = arms.map(({ retrieves }) => (retrieves === 'evidence' ? items - withoutEvidence : items));
  return repeats * perRepeat.reduce((sum, turns) => sum + turns, 0);
}
