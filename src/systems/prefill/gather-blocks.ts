import { memoize } from '../../base/memoize.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockStore } from '../../kv/block-store.ts';
import { type Eviction, evictionName } from '../../kv/eviction-rule-and-share.ts';
import type { KvOperations } from '../../kv/kv-operations.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { MemoryLine, MemoryLines } from '../prompt/build-prompt.ts';
import { computeExactly, holdsTokens, requireInSession, requireTokens } from './verify-kv-tokens.ts';
import type { ComputeBlock, KvParts } from './prefill-strategy.ts';
import { sinkTokens } from './sink-tokens.ts';

export interface BlockContext extends KvParts<BlockStore> {
  /** Computes missing blocks; its meter counts their tokens. */
  readonly session: EngineSession;
  /** Default: every block is computed. */
  readonly computeBlock?: ComputeBlock | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GatheredBlock {
  readonly key: string;
  readonly state: SequenceState;
  /** Position of its first token, even if that token was evicted. */
  readonly start: number;
  readonly origin: 'computed' | 'memory' | 'disk';
  /** 0 if the block was found in the store. */
  readonly computeMs: number;
  /** The part of `computeMs` that an earlier turn of another arm spent, whose block this is. */
  readonly chargedMs: number;
}

export interface GatheredBlocks {
  /** If blocks attend to sink tokens, evaluated together with these. */
  readonly header: GatheredBlock;
  /** Sink tokens to place before each block; null for none. */
  readonly sink: SequenceState | null;
  /** One block per memory line, in order, as evaluated directly after its context, without evicted tokens. */
  readonly blocks: readonly GatheredBlock[];
  readonly builtTokens: number;
  readonly findMs: number;
  readonly computeMs: number;
}

interface WantedBlock {
  readonly part: string;
  /** Tokens that the block attends to and whose cells exist already. */
  readonly front: readonly TokenId[];
  /** The previous memory, if the block attends to it; evaluated together with the block. */
  readonly neighbour: readonly TokenId[];
  readonly tokenIds: readonly TokenId[];
  /** The memories that the block contains or attended to. If any is forgotten, the block is deleted. */
  readonly memoryIds: readonly string[];
  readonly evict: Eviction | null;
}

/** Finds or computes the header and the block of each line. Call the store's `settle` after the answer. */
export async function gatherBlocks(
  context: BlockContext,
  userId: string,
  { header, lines }: MemoryLines,
  making: BlockMaking = {},
): Promise<GatheredBlocks> {
  const begin = performance.now();
  const { engine, session, evict } = context;
  const sink = sinkTokens(making, header);
  const wholeIds = making.context === 'none' ? header : [...header, ...sink];
  const front = making.context === 'none' ? sink : wholeIds;
  const wanted = { part: 'header', front: [], neighbour: [], tokenIds: wholeIds, memoryIds: [], evict: null };
  const whole = await gatherBlock(context, userId, wanted, () => session.clear());
  const cells = cutContext(whole.state, header.length, making, context.kv);
  // Blocks must attend to the header as it is stored. A header just computed is in the session, unless it was quantised.
  let holdsFront = isInSession(whole) && context.keptAs === 'f16';
  const beginBlock = async (): Promise<void> => {
    // After a mere truncation, an engine with a prefix cache could reuse the previous block.
    const truncates = holdsFront && engine.capabilities.prefixCache === null;
    holdsFront = false;
    if (cells.front === null) await session.clear();
    else if (truncates) await session.truncate(front.length);
    else await session.importCells(cells.front);
  };
  const blocks: GatheredBlock[] = [];
  let builtTokens = whole.origin === 'computed' ? wholeIds.length : 0;
  for (const block of wantedBlocks(lines, front, making, evict)) {
    const gathered = await gatherBlock(context, userId, block, beginBlock);
    blocks.push(gathered);
    if (gathered.origin !== 'computed') continue;
    if (isInSession(gathered)) holdsFront = true;
    builtTokens += block.neighbour.length + block.tokenIds.length;
  }
  const computeMs = [whole, ...blocks].reduce((sum, block) => sum + block.computeMs, 0);
  const chargedMs = [whole, ...blocks].reduce((sum, block) => sum + block.chargedMs, 0);
  const findMs = performance.now() - begin - (computeMs - chargedMs);
  return { header: { ...whole, state: cells.header }, sink: cells.sink, blocks, builtTokens, findMs, computeMs };
}

/** True if the session holds the block and what it attends to, because it has just been computed there. */
function isInSession({ origin, chargedMs }: GatheredBlock): boolean {
  return origin === 'computed' && chargedMs === 0;
}

function wantedBlocks(
  lines: readonly MemoryLine[],
  front: readonly TokenId[],
  { context }: BlockMaking,
  evict: Eviction | null,
): WantedBlock[] {
  const eviction = evict === null ? '' : `/evict-${evictionName(evict)}`;
  return lines.map(({ memoryId, tokenIds }, index) => {
    const previous = context === 'previous' ? lines[index - 1] : undefined;
    const neighbour = previous?.tokenIds ?? [];
    const memoryIds = previous === undefined ? [memoryId] : [memoryId, previous.memoryId];
    const part = `block behind ${front.length + neighbour.length}${eviction}`;
    return { part, front, neighbour, tokenIds, memoryIds, evict };
  });
}

/** Finds or computes a block. @param beginSession makes the session hold exactly the `front` tokens */
async function gatherBlock(
  { engine, session, store, kv, template, keptAs, computeBlock = computeAlone, signal }: BlockContext,
  userId: string,
  { part, front, neighbour, tokenIds, memoryIds, evict }: WantedBlock,
  beginSession: () => Promise<void>,
): Promise<GatheredBlock> {
  const start = front.length + neighbour.length;
  const ids = [...front, ...neighbour, ...tokenIds];
  const key = kv.key({
    stateIdentity: engine.info.stateIdentity ?? '',
    template: `${keptAs === 'f16' ? template : `${template}/${keptAs}`}/${part}`,
    tokenIds: ids,
  });
  const found = await store.find(userId, key);
  if (found !== undefined) {
    const { state, tier } = found;
    if (holdsTokens(state, start, tokenIds, evict))
      return { key, start, state, origin: tier, computeMs: 0, chargedMs: 0 };
    await store.reject(userId, key);
  }
  const begin = performance.now();
  const compute = async (): Promise<SequenceState> => {
    await beginSession();
    await session.evaluate([...neighbour, ...tokenIds], { signal });
    await requireInSession(session, ids);
    const cells = await session.exportCells({ start, end: ids.length });
    requireTokens(cells.tokenIds, tokenIds);
    if (evict === null) return cells;
    using _ = cells;
    return kv.evict(cells, evict);
  };
  const computed = await computeExactly(() => computeBlock(userId, key, compute), store);
  using block = computed.state;
  const state = store.keep({ userId, key, tokens: tokenIds.length, memoryIds }, block);
  const { chargedMs } = computed;
  return { key, start, state, origin: 'computed', computeMs: performance.now() - begin + chargedMs, chargedMs };
}

const computeAlone: ComputeBlock = async (_userId, _key, compute) => ({ state: await compute(), chargedMs: 0 });

/** Cuts the cells of one evaluation into header, front (which blocks attend to; null for none) and kept sink tokens. */
function cutContext(
  whole: SequenceState,
  headerTokens: number,
  { context, sink: { tokens, kept } = { tokens: 0, kept: false } }: BlockMaking,
  kv: KvOperations,
): Record<'front' | 'sink', SequenceState | null> & { readonly header: SequenceState } {
  const start = context === 'none' ? 0 : headerTokens;
  const end = start + tokens;
  const cut = (from: number, to: number): SequenceState => {
    if (from === 0 && to === whole.positions.length) return whole;
    const known = knownCuts(whole);
    const name = `${from} ${to}`;
    const found = known.get(name) ?? kv.cut(whole, from, to);
    known.set(name, found);
    return found;
  };
  return {
    header: cut(0, headerTokens),
    front: end === 0 ? null : cut(0, end),
    sink: kept ? cut(start, end) : null,
  };
}

/** Returns the same object for the same cut, because rotated keys are cached by object identity. */
const knownCuts = memoize<SequenceState, Map<string, SequenceState>>(() => new Map());
