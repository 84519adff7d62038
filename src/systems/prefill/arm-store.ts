import type { Engine } from '../../engine/engine.ts';
import type { DiskTiming } from '../../kv/block-store.ts';
import type { KvStore } from '../../kv/kv-store.ts';

/** A KV store of one arm. */
export interface ArmStore {
  readonly store: KvStore;
  /** `when-evicted` where no other process opens the store's folder. */
  readonly diskTiming: DiskTiming;
}

/** Opens the store of an arm, whose checkpoints the engine keeps. */
export type OpenStore = (engine: Engine) => Promise<ArmStore>;
