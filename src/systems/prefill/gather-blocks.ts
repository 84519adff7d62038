import { memoize } from '../../base/memoize.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockStore } from '../../kv/block-store.ts';
import { type Eviction, evictionName } from '../../kv/eviction.ts';
import type { KvOperations } from '../../kv/kv-operations.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { MemoryLine, MemoryLines } from '../prompt/build-prompt.ts';
import { computeExactly, holdsTokens, requireInSession, requireTokens } from './verify-kv-tokens.ts';
import type { KvParts } from './prefill-strategy.ts';
import { sinkTokens } from './sink-tokens.ts';

export interface BlockContext extends KvParts<BlockStore> {
  /** Its meter counts every block that is built. */
  readonly session: EngineSession;
  readonly signal?: AbortSignal | undefined;
}

export interface GatheredBlock {
  readonly key: string;
  readonly state: SequenceState;
  /** The position of its first token, evicted or not. */
  readonly start: number;
  readonly origin: 'computed' | 'memory' | 'disk';
  /** 0 for a block that was found. */
  readonly computeMs: number;
}

export interface GatheredBlocks {
  /** Evaluated with the sink tokens behind it, where blocks see those. */
  readonly header: GatheredBlock;
  /** Sink tokens that stand in front of each block; null where none do. */
  readonly sink: SequenceState | null;
  /** One of each memory line, in order, as evaluated directly behind its context, without the tokens that were evicted. */
  readonly blocks: readonly GatheredBlock[];
  readonly builtTokens: number;
  readonly findMs: number;
  readonly computeMs: number;
}

interface WantedBlock {
  readonly part: string;
  /** What it attends to: tokens whose cells exist, and a memory that is evaluated together with it. */
  readonly front: readonly TokenId[];
  readonly neighbour: readonly TokenId[];
  readonly tokenIds: readonly TokenId[];
  /** The memories whose text it contains or attended to: it is forgotten with any of them. */
  readonly memoryIds: readonly string[];
  readonly evict: Eviction | null;
}

/** Finds or computes the header and each line's block, behind its context. Settle the store after the answer. */
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
  // Blocks attend to the header that they will stand behind: a computed one, unless the store changes its numbers.
  let holdsFront = whole.origin === 'computed' && context.keptAs === 'f16';
  const beginBlock = async (): Promise<void> => {
    // An engine with a prefix cache of its own could reuse the block before where the session was only truncated.
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
    holdsFront = true;
    builtTokens += block.neighbour.length + block.tokenIds.length;
  }
  const computeMs = [whole, ...blocks].reduce((sum, block) => sum + block.computeMs, 0);
  const findMs = performance.now() - begin - computeMs;
  return { header: { ...whole, state: cells.header }, sink: cells.sink, blocks, builtTokens, findMs, computeMs };
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

/** Finds a block, or computes it. @param beginSession makes the session hold the tokens in front */
async function gatherBlock(
  { engine, session, store, kv, template, keptAs, signal }: BlockContext,
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
    if (holdsTokens(state, start, tokenIds, evict)) return { key, start, state, origin: tier, computeMs: 0 };
    await store.reject(userId, key);
  }
  const begin = performance.now();
  const compute = async (): Promise<SequenceState> => {
    await beginSession();
    await session.evaluate([...neighbour, ...tokenIds], { signal });
    await requireInSession(session, ids);
    using cells = await session.exportCells({ start, end: ids.length });
    requireTokens(cells.tokenIds, tokenIds);
    const block = evict === null ? cells : kv.evict(cells, evict);
    return store.keep({ userId, key, tokens: tokenIds.length, memoryIds }, block);
  };
  const state = await computeExactly(compute, store);
  return { key, start, state, origin: 'computed', computeMs: performance.now() - begin };
}

/** Cuts cells of one evaluation: header, the front that blocks attend to, and kept sink tokens; null for none of these. */
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

/** The same object for the same cut, since rotated keys are cached by the object. */
const knownCuts = memoize<SequenceState, Map<string, SequenceState>>(() => new Map());
