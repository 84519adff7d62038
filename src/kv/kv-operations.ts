import { readBlockFile } from './block-file.ts';
import { openBlockStore } from './block-store.ts';
import { cellDeviations } from './cell-deviations.ts';
import { cutCells } from './cut-cells.ts';
import { evictCells } from './evict-cells.ts';
import { readExternalKv } from './external-kv-file.ts';
import { joinBlocks } from './join-blocks.ts';
import { kvKey } from './kv-key.ts';
import { meanAttention } from './mean-attention.ts';
import { repeatHeads } from './repeat-heads.ts';
import { firstCells, replaceCells } from './copy-arena-cells.ts';
import { readQuantised, writeQuantised } from './quantised-block.ts';

/** The KV functions that take time within a turn, in one object so that a recorder or a test can wrap them. */
export const kvOperations = {
  join: joinBlocks,
  cut: cutCells,
  first: firstCells,
  replace: replaceCells,
  evict: evictCells,
  key: kvKey,
  readBlock: readBlockFile,
  readExternal: readExternalKv,
  deviations: cellDeviations,
  repeatHeads,
  attention: meanAttention,
  quantise: writeQuantised,
  restore: readQuantised,
  openBlocks: openBlockStore,
};

export type KvOperations = Readonly<typeof kvOperations>;
