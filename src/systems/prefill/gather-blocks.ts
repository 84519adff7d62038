import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockStore, FoundBlock } from '../../kv/block-store.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { LinesAhead } from '../prompt/lines-ahead.ts';
import { computeExactly, isBlockOf, requireInSession, requireTokens } from './exact-tokens.ts';

/** Everything that work on blocks needs. */
export interface BlockContext {
  readonly engine: Engine;
  /** Its meter counts every block that is built. */
  readonly session: EngineSession;
  readonly store: BlockStore;
  readonly kv: KvTools;
  /** Template and labels, part of each key. */
  readonly template: string;
  /** Cancels the evaluation of a block. */
  readonly signal?: AbortSignal | undefined;
}

/** Cells that were found or computed. */
export interface GatheredBlock {
  readonly key: string;
  readonly state: SequenceState;
  readonly origin: 'computed' | 'memory' | 'disk';
  /** 0 for a block that was found. */
  readonly computeMs: number;
}

/** Header and blocks of a prompt, and the cost of getting them. */
export interface GatheredBlocks {
  readonly header: GatheredBlock;
  /** One of each memory line, in order, as evaluated directly behind the header. */
  readonly blocks: readonly GatheredBlock[];
  readonly builtTokens: number;
  readonly findMs: number;
  readonly computeMs: number;
}

/**
 * Finds the header and the block of every memory line, and computes those that are not in the store: a line is evaluated
 * directly behind the header, so that it sees the header and itself, and its own cells alone are kept. The store is to be
 * settled behind the answer.
 */
export async function gatherBlocks(
  context: BlockContext,
  userId: string,
  { header: headerIds, lines }: LinesAhead,
): Promise<GatheredBlocks> {
  const start = performance.now();
  const { session, store, signal } = context;
  const header = await headerOf(context, userId, headerIds);
  let computeMs = header.computeMs;
  let builtTokens = header.origin === 'computed' ? headerIds.length : 0;
  let sessionHoldsHeader = header.origin === 'computed';
  const blocks: GatheredBlock[] = [];
  for (const { memoryId, tokenIds } of lines) {
    const key = keyOf(context, `block behind ${headerIds.length}`, [...headerIds, ...tokenIds]);
    const found = await findBlock(store, userId, key, headerIds.length, tokenIds);
    if (found !== undefined) {
      blocks.push({ key, state: found.state, origin: found.tier, computeMs: 0 });
      continue;
    }
    const computeStart = performance.now();
    const compute = async (): Promise<SequenceState> => {
      if (sessionHoldsHeader) await session.truncate(headerIds.length);
      else await session.importCells(header.state);
      sessionHoldsHeader = false;
      await session.evaluate(tokenIds, { signal });
      await requireInSession(session, [...headerIds, ...tokenIds]);
      sessionHoldsHeader = true;
      using block = await session.exportCells({ start: headerIds.length, end: headerIds.length + tokenIds.length });
      requireTokens(block.tokenIds, tokenIds);
      return store.keep(userId, key, tokenIds.length, [memoryId], block);
    };
    const state = await computeExactly(compute, () => store.countRejected());
    const elapsedMs = performance.now() - computeStart;
    builtTokens += tokenIds.length;
    computeMs += elapsedMs;
    blocks.push({ key, state, origin: 'computed', computeMs: elapsedMs });
  }
  return { header, blocks, builtTokens, findMs: performance.now() - start - computeMs, computeMs };
}

async function headerOf(context: BlockContext, userId: string, tokenIds: readonly TokenId[]): Promise<GatheredBlock> {
  const { session, store, signal } = context;
  const key = keyOf(context, 'header', tokenIds);
  const found = await findBlock(store, userId, key, 0, tokenIds);
  if (found !== undefined) return { key, state: found.state, origin: found.tier, computeMs: 0 };
  const start = performance.now();
  const compute = async (): Promise<SequenceState> => {
    await session.clear();
    await session.evaluate(tokenIds, { signal });
    await requireInSession(session, tokenIds);
    using cells = await session.exportCells();
    requireTokens(cells.tokenIds, tokenIds);
    return store.keep(userId, key, tokenIds.length, [], cells);
  };
  const state = await computeExactly(compute, () => store.countRejected());
  return { key, state, origin: 'computed', computeMs: performance.now() - start };
}

/** A block that has these tokens, from that position on; one that has others is rejected. */
async function findBlock(
  store: BlockStore,
  userId: string,
  key: string,
  start: number,
  tokenIds: readonly TokenId[],
): Promise<FoundBlock | undefined> {
  const found = await store.find(userId, key);
  if (found === undefined || isBlockOf(found.state, start, tokenIds)) return found;
  await store.reject(userId, key);
  return undefined;
}

function keyOf({ engine, template, kv }: BlockContext, part: string, tokenIds: readonly TokenId[]): string {
  return kv.key({ stateIdentity: engine.info.stateIdentity ?? '', template: `${template}/${part}`, tokenIds });
}
