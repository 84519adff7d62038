import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { RunRecord } from '../../store/records/run-record.ts';

export interface RunSample {
  readonly items: number;
  /** Items without evidence, which arms that retrieve the evidence skip. */
  readonly withoutEvidence: number;
  /** Items that twins and controls with another user's memories answer; missing for all. */
  readonly controlItems?: number | undefined;
  readonly repeats: number;
  /** Shard `i/n`; missing for a whole run. */
  readonly shard?: string | undefined;
  /** `--kv-store`: KV outlives a repeat, so that the next one finds it. */
  readonly sharesKv?: boolean;
}

export function plannedSample({ dataset, plan }: Pick<RunRecord, 'dataset' | 'plan'>): RunSample {
  const { items, withoutEvidence = 0, controlItems } = dataset;
  const { repeats = 1, kvStore, shard } = plan.settings as { repeats?: number; kvStore?: unknown; shard?: string };
  return { items, withoutEvidence, controlItems, repeats, shard, sharesKv: kvStore !== undefined };
}

/** True for a twin, and for a control with another user's memories: they answer a sample of the items. */
export function answersControlItems({ control, retrieves }: Pick<ArmTraits, 'control' | 'retrieves'>): boolean {
  return control === 'twin' || (control === 'negative' && retrieves === 'donor');
}

export function plannedTurns(arms: readonly ArmTraits[], plan: RunSample): number {
  const { items, withoutEvidence, controlItems = items, repeats } = plan;
  const ofArm = (arm: ArmTraits): number => {
    if (arm.retrieves === 'evidence') return items - withoutEvidence;
    return answersControlItems(arm) ? controlItems : items;
  };
  return repeats * arms.reduce((sum, arm) => sum + ofArm(arm), 0);
}

/** Reads option `--shard i/n`: a part of a run has every n-th user of the plan, starting at user i (from 1). */
export function parseShard(option: string): { readonly index: number; readonly of: number } {
  const [index, of] = option.split('/').map(Number);
  return { index: index!, of: of! };
}

/** The users of a plan who belong to `--shard`; all users without that option. */
export function shardUsers<User>(users: readonly User[], { shard = '1/1' }: { readonly shard?: string }): User[] {
  const { index, of } = parseShard(shard);
  return users.filter((_, position) => position % of === index - 1);
}

/** How many users and turns a run ends with: those of its own part for a shard. */
export function plannedSize(run: Pick<RunRecord, 'dataset' | 'plan'>): { ofUsers: number; ofTurns: number } {
  const { dataset, plan } = run;
  if (plan.users === undefined) {
    return { ofUsers: dataset.users, ofTurns: plannedTurns(plan.arms, plannedSample(run)) };
  }
  const users = shardUsers(plan.users, plan.settings);
  return { ofUsers: users.length, ofTurns: users.reduce((sum, { turns }) => sum + turns, 0) };
}
