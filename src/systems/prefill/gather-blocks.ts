import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockStore, FoundBlock } from '../../kv/block-store.ts';
import { type Eviction, evictionName } from '../../kv/eviction-scores.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { BlockMaking, StoreType } from '../../store/records/prefill-record.ts';
import type { MemoryLine, MemoryLines } from '../prompt/memory-lines.ts';
import { type ContextTokens, contextTokens, cutContext, sinkTokens } from './block-context.ts';
import { computeExactly, isBlockOf, isLeftOf, requireInSession, requireTokens } from './exact-tokens.ts';

/** Everything that work on blocks needs. */
export interface BlockContext {
  readonly engine: Engine;
  /** Its meter counts every block that is built. */
  readonly session: EngineSession;
  readonly store: BlockStore;
  readonly kv: KvTools;
  /** Template and labels, part of each key. */
  readonly template: string;
  /** Tokens that are dropped from each block before it is kept, never from the header; null for none. */
  readonly evict: Eviction | null;
  /** The type in which the store keeps blocks. */
  readonly keptAs: StoreType;
  /** Cancels the evaluation of a block. */
  readonly signal?: AbortSignal | undefined;
}

/** Cells that were found or computed. */
export interface GatheredBlock {
  readonly key: string;
  readonly state: SequenceState;
  /** The position of its first token, evicted or not. */
  readonly start: number;
  readonly origin: 'computed' | 'memory' | 'disk';
  /** 0 for a block that was found. */
  readonly computeMs: number;
}

/** Header and blocks of a prompt, and the cost of getting them. */
export interface GatheredBlocks {
  /** Evaluated with the shared tokens behind it, where blocks see those. */
  readonly header: GatheredBlock;
  /** Shared tokens that stand in front of each block, where they were computed; null where none are kept. */
  readonly sink: SequenceState | null;
  /** One of each memory line, in order, as evaluated directly behind what it sees, without the tokens that were evicted. */
  readonly blocks: readonly GatheredBlock[];
  readonly builtTokens: number;
  readonly findMs: number;
  readonly computeMs: number;
}

/**
 * Finds the header and the block of every memory line, and computes those that are not in the store: a line is evaluated
 * directly behind its context, by default the header, and only its own cells are stored. Settle the store after the answer.
 */
export async function gatherBlocks(
  context: BlockContext,
  userId: string,
  parts: MemoryLines,
  making: BlockMaking = {},
): Promise<GatheredBlocks> {
  const begin = performance.now();
  const { store, evict } = context;
  const sink = sinkTokens(making, parts.header);
  // Of a prompt's own beginning the header has the cells.
  const ids = making.context === 'none' ? parts.header : [...parts.header, ...sink];
  const whole = await findHeader(context, userId, ids);
  const { front, ...cells } = cutContext(whole.state, parts.header.length, making, context.kv);
  let computeMs = whole.computeMs;
  let builtTokens = whole.origin === 'computed' ? ids.length : 0;
  // Blocks see the header that they will stand behind, whoever computed it: what is restored is another one.
  const builder: Builder = { front, holdsFront: whole.origin === 'computed' && context.keptAs === 'f16' };
  const blocks: GatheredBlock[] = [];
  for (const [index, line] of parts.lines.entries()) {
    const seen = contextTokens(making, parts, index);
    const start = seen.all.length;
    const part = `block behind ${start}${evict === null ? '' : `/evict-${evictionName(evict)}`}`;
    const key = blockKey(context, part, [...seen.all, ...line.tokenIds]);
    const found = await findBlock(store, userId, key, (state) =>
      evict === null ? isBlockOf(state, start, line.tokenIds) : isLeftOf(state, start, line.tokenIds, evict),
    );
    if (found !== undefined) {
      blocks.push({ key, start, state: found.state, origin: found.tier, computeMs: 0 });
      continue;
    }
    const computeStart = performance.now();
    const compute = (): Promise<SequenceState> => computeBlock(context, builder, userId, key, line, seen);
    const state = await computeExactly(compute, () => store.countRejected());
    const elapsedMs = performance.now() - computeStart;
    builtTokens += (seen.neighbour?.tokenIds.length ?? 0) + line.tokenIds.length;
    computeMs += elapsedMs;
    blocks.push({ key, start, state, origin: 'computed', computeMs: elapsedMs });
  }
  const findMs = performance.now() - begin - computeMs;
  return { header: { ...whole, state: cells.header }, sink: cells.sink, blocks, builtTokens, findMs, computeMs };
}

/** Cells that a session which builds blocks holds at its beginning. */
interface Builder {
  /** The cells of what every block sees; null for nothing. */
  readonly front: SequenceState | null;
  /** The session begins with them. */
  holdsFront: boolean;
}

/** Evaluates a line behind its context; a neighbour together with it, since its cells are not needed elsewhere. */
async function computeBlock(
  { engine, session, store, kv, evict, signal }: BlockContext,
  builder: Builder,
  userId: string,
  key: string,
  { memoryId, tokenIds }: MemoryLine,
  { front, neighbour, all }: ContextTokens,
): Promise<SequenceState> {
  // An engine with a prefix cache of its own could reuse the block before where the session was only truncated.
  const truncates = builder.holdsFront && engine.capabilities.prefixCache === null;
  if (builder.front === null) await session.clear();
  else if (truncates) await session.truncate(front.length);
  else await session.importCells(builder.front);
  builder.holdsFront = false;
  await session.evaluate([...(neighbour?.tokenIds ?? []), ...tokenIds], { signal });
  await requireInSession(session, [...all, ...tokenIds]);
  builder.holdsFront = true;
  using block = await session.exportCells({ start: all.length, end: all.length + tokenIds.length });
  requireTokens(block.tokenIds, tokenIds);
  // A block that saw a memory contains what it says: both are forgotten together.
  const memoryIds = neighbour === null ? [memoryId] : [memoryId, neighbour.memoryId];
  return store.keep(
    { userId, key, tokens: tokenIds.length, memoryIds },
    evict === null ? block : kv.evict(block, evict),
  );
}

async function findHeader(context: BlockContext, userId: string, tokenIds: readonly TokenId[]): Promise<GatheredBlock> {
  const { session, store, signal } = context;
  const key = blockKey(context, 'header', tokenIds);
  const found = await findBlock(store, userId, key, (state) => isBlockOf(state, 0, tokenIds));
  if (found !== undefined) return { key, start: 0, state: found.state, origin: found.tier, computeMs: 0 };
  const start = performance.now();
  const compute = async (): Promise<SequenceState> => {
    await session.clear();
    await session.evaluate(tokenIds, { signal });
    await requireInSession(session, tokenIds);
    using cells = await session.exportCells();
    requireTokens(cells.tokenIds, tokenIds);
    return store.keep({ userId, key, tokens: tokenIds.length, memoryIds: [] }, cells);
  };
  const state = await computeExactly(compute, () => store.countRejected());
  return { key, start: 0, state, origin: 'computed', computeMs: performance.now() - start };
}

/** A block whose cells are those that its key says; any other is rejected. */
async function findBlock(
  store: BlockStore,
  userId: string,
  key: string,
  isWanted: (state: SequenceState) => boolean,
): Promise<FoundBlock | undefined> {
  const found = await store.find(userId, key);
  if (found === undefined || isWanted(found.state)) return found;
  await store.reject(userId, key);
  return undefined;
}

function blockKey({ engine, template, kv, keptAs }: BlockContext, part: string, tokenIds: readonly TokenId[]): string {
  const form = keptAs === 'f16' ? template : `${template}/${keptAs}`;
  return kv.key({ stateIdentity: engine.info.stateIdentity ?? '', template: `${form}/${part}`, tokenIds });
}
