import type { BlockStore } from '../../kv/block-store.ts';
import { cutBlock } from '../../kv/cut-block.ts';
import { joinBlocks } from '../../kv/join-blocks.ts';
import type { KvCells } from '../../kv/sequence-state.ts';
import { stateKey } from '../../kv/state-key.ts';
import type { ModelInfo } from '../../llm/model-info.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { PrefixParts } from './prefix-parts.ts';
import type { ScratchState } from '../scratch-state.ts';

/** Where the work on blocks is done. */
export interface BlockWorkshop {
  readonly info: ModelInfo;
  /** The arm's own, whose meter counts every block that is built. */
  readonly sequence: ModelSequence;
  readonly store: BlockStore;
  readonly scratch: ScratchState;
  /** Template and labels, part of each key. */
  readonly template: string;
}

/** Cells that were found or computed. */
export interface GatheredBlock {
  readonly key: string;
  readonly cells: KvCells;
  readonly origin: 'computed' | 'memory' | 'disk';
  /** 0 for a block that was found. */
  readonly computeMs: number;
}

/** Header and blocks of a prompt, and what getting them took. */
export interface GatheredBlocks {
  readonly header: GatheredBlock;
  /** One of each memory line, in order, as evaluated directly behind the header. */
  readonly blocks: readonly GatheredBlock[];
  readonly builtTokens: number;
  readonly findMs: number;
  readonly computeMs: number;
}

/**
 * Finds the header and the block of every memory line, and computes those that are not there: a line is evaluated
 * directly behind the header, so that it sees the header and itself, and its own cells alone are kept.
 */
export async function gatherBlocks(
  workshop: BlockWorkshop,
  userId: string,
  { header: headerIds, lines }: Pick<PrefixParts, 'header' | 'lines'>,
): Promise<GatheredBlocks> {
  const start = performance.now();
  const { info, sequence, store, scratch } = workshop;
  const header = await headerOf(workshop, userId, headerIds);
  let computeMs = header.computeMs;
  let builtTokens = header.origin === 'computed' ? headerIds.length : 0;
  let standsAlone = header.origin === 'computed';
  const blocks: GatheredBlock[] = [];
  for (const { memoryId, tokenIds } of lines) {
    const key = keyOf(workshop, `block behind ${headerIds.length}`, [...headerIds, ...tokenIds]);
    const found = store.find(userId, key);
    if (found !== undefined) {
      blocks.push({ key, cells: found.cells, origin: found.tier, computeMs: 0 });
      continue;
    }
    const computeStart = performance.now();
    if (standsAlone) await sequence.truncate(headerIds.length);
    else {
      scratch.write(joinBlocks(header.cells, [], { keys: info, sequences: info.contextOptions.sequences }));
      await scratch.load(sequence);
      standsAlone = true;
    }
    await sequence.evaluate(tokenIds);
    const block = cutBlock(await scratch.cellsOf(sequence), headerIds.length, headerIds.length + tokenIds.length);
    const cells = store.keep(userId, key, tokenIds.length, [memoryId], block);
    const elapsedMs = performance.now() - computeStart;
    builtTokens += tokenIds.length;
    computeMs += elapsedMs;
    blocks.push({ key, cells, origin: 'computed', computeMs: elapsedMs });
  }
  return { header, blocks, builtTokens, findMs: performance.now() - start - computeMs, computeMs };
}

async function headerOf(workshop: BlockWorkshop, userId: string, tokenIds: readonly number[]): Promise<GatheredBlock> {
  const { sequence, store, scratch } = workshop;
  const key = keyOf(workshop, 'header', tokenIds);
  const found = store.find(userId, key);
  if (found !== undefined) return { key, cells: found.cells, origin: found.tier, computeMs: 0 };
  const start = performance.now();
  await sequence.clear();
  await sequence.evaluate(tokenIds);
  const block = cutBlock(await scratch.cellsOf(sequence), 0, tokenIds.length);
  const cells = store.keep(userId, key, tokenIds.length, [], block);
  return { key, cells, origin: 'computed', computeMs: performance.now() - start };
}

function keyOf({ info, template }: BlockWorkshop, part: string, tokenIds: readonly number[]): string {
  const { sha256, contextOptions } = info;
  return stateKey({ modelSha256: sha256, contextOptions, template: `${template}/${part}`, tokenIds });
}
