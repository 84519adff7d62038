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
export const kvTools = {
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
  openBlocks: (store: KvStore, memoryBytes: number, timing: DiskTiming, type: StoreType): BlockStore =>
    new BlockStore(store, memoryBytes, timing, type),
};

export type KvTools = Readonly<typeof kvTools>;
