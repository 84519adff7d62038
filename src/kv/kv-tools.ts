import { BlockStore, type DiskTiming } from './block-store.ts';
import { joinBlocks } from './join-blocks.ts';
import { kvKey } from './kv-key.ts';
import type { KvStore } from './kv-store.ts';

/** Functions of this layer that take time within a turn, so that whoever times a turn can stand in front of them. */
export interface KvTools {
  readonly join: typeof joinBlocks;
  readonly key: typeof kvKey;
  readonly openBlocks: (store: KvStore, memoryBytes: number, timing: DiskTiming) => BlockStore;
}

/** The functions themselves. */
export const kvTools: KvTools = {
  join: joinBlocks,
  key: kvKey,
  openBlocks: (store, memoryBytes, timing) => new BlockStore(store, memoryBytes, timing),
};
