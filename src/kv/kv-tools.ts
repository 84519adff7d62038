import { readBlockFile } from './block-file.ts';
import { BlockStore, type DiskTiming } from './block-store.ts';
import { cellDeviations } from './cell-deviations.ts';
import { cutCells } from './cut-cells.ts';
import { evictCells } from './evict-cells.ts';
import { joinBlocks } from './join-blocks.ts';
import { kvKey } from './kv-key.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import type { KvStore } from './kv-store.ts';
import { meanAttention, repeatHeads } from './mean-attention.ts';
import { firstCells, replaceCells } from './place-values.ts';
import { readQuantised, writeQuantised } from './quantised-block.ts';

/** The functions of this layer that take time within a turn; a recorder or a test wraps them. */
export interface KvTools {
  readonly join: typeof joinBlocks;
  readonly cut: typeof cutCells;
  readonly first: typeof firstCells;
  readonly replace: typeof replaceCells;
  readonly evict: typeof evictCells;
  readonly key: typeof kvKey;
  readonly readBlock: typeof readBlockFile;
  readonly deviations: typeof cellDeviations;
  readonly repeatHeads: typeof repeatHeads;
  readonly attention: typeof meanAttention;
  readonly quantise: typeof writeQuantised;
  readonly restore: typeof readQuantised;
  readonly openBlocks: (store: KvStore, memoryBytes: number, timing: DiskTiming, type: StoreType) => BlockStore;
}

/** The functions themselves. */
export const kvTools: KvTools = {
  join: joinBlocks,
  cut: cutCells,
  first: firstCells,
  replace: replaceCells,
  evict: evictCells,
  key: kvKey,
  readBlock: readBlockFile,
  deviations: cellDeviations,
  repeatHeads,
  attention: meanAttention,
  quantise: writeQuantised,
  restore: readQuantised,
  openBlocks: (store, memoryBytes, timing, type) => new BlockStore(store, memoryBytes, timing, type),
};
