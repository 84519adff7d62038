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
  /** Joins blocks after a header: rotates keys to their positions, scales values. */
  join: joinBlocks,
  /** Copies a range of cells. */
  cut: cutCells,
  /** The first cells of a state. */
  first: firstCells,
  /** Replaces a range of cells. */
  replace: replaceCells,
  /** Drops tokens by a rule, separately in each head. */
  evict: evictCells,
  /** The content key of KV. */
  key: kvKey,
  /** Reads the bytes of a block file. */
  readBlock: readBlockFile,
  /** Reads cells that were made elsewhere. */
  readExternal: readExternalKv,
  /** How much each cell differs from that of another state. */
  deviations: cellDeviations,
  /** Repeats each KV head for the query heads that share it. */
  repeatHeads,
  /** The mean attention of queries to each cell. */
  attention: meanAttention,
  /** Stores cells in 8 or 4 bits per number. */
  quantise: writeQuantised,
  /** Restores quantised cells to 16 bits. */
  restore: readQuantised,
  /** Opens a block store with a memory tier and a disk tier. */
  openBlocks: openBlockStore,
};

export type KvOperations = Readonly<typeof kvOperations>;
