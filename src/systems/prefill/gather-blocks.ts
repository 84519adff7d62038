import { memoize } from '../../base/memoize.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockStore } from '../../kv/block-store.ts';
import { type Eviction, evictionName } from '../../kv/eviction-rule-and-share.ts';
import type { KvOperations } from '../../kv/kv-operations.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import type { MemoryLine, MemoryLines } from '../prompt/build-prompt.ts';
import { evictTokens, type PromptSuffix } from './question-attention.ts';
import { computeExactly, holdsTokens, requireTokens } from './verify-kv-tokens.ts';
import type { ComputeBlock, KvParts } from './prefill-strategy.ts';
import { sinkTokens } from './join-recipe.ts';

export interface BlockContext extends KvParts<BlockStore> {
  /** Computes missing blocks; its meter counts their tokens. */
  readonly session: EngineSession;
  /** Default: every block is computed. */
  readonly computeBlock?: ComputeBlock | undefined;
  /** What evicting blocks needs to know of the turn. Default: nothing. */
  readonly evicting?: EvictingTurn | undefined;
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
  /** The part of `computeMs` that an earlier turn of another arm spent, if that turn computed the block. */
  readonly chargedMs: number;
  /** What selecting the tokens to evict cost in this turn; null if nothing was evaluated for it. */
  readonly selector: Selector | null;
}

export interface GatheredBlocks {
  /** If blocks attend to sink tokens, evaluated together with these. */
  readonly header: GatheredBlock;
  /** Sink tokens to place before each block; null for none. */
  readonly sink: SequenceState | null;
  /** One block per memory line, in order, as evaluated directly after its context; without evicted tokens, unless repaired. */
  readonly blocks: readonly GatheredBlock[];
  readonly builtTokens: number;
  /** The sum over the blocks; null if nothing was evaluated to select tokens. */
  readonly selector: Selector | null;
  readonly findMs: number;
  readonly computeMs: number;
  /** The part of `computeMs` that earlier turns of other arms spent. */
  readonly chargedMs: number;
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
  /** The whole block is wanted, although its tokens are evicted. */
  readonly repaired: boolean;
  /** The header's cells, for a rule that scores tokens after them; null for the header itself. */
  readonly header: SequenceState | null;
}

export interface EvictingTurn {
  readonly rest: PromptSuffix;
  /** Indexes of the lines whose whole blocks come back; undefined if whole blocks are not stored. */
  readonly repaired: ReadonlySet<number> | undefined;
}

/** Finds or computes the header and the block of each line. Call the store's `settle` after the answer. */
export async function gatherBlocks(
  context: BlockContext,
  userId: string,
  { header: headerIds, lines }: MemoryLines,
  making: BlockMaking = {},
): Promise<GatheredBlocks> {
  const begin = performance.now();
  const { engine, session, evict, evicting } = context;
  const sink = sinkTokens(making, headerIds);
  const wholeIds = making.context === 'none' ? headerIds : [...headerIds, ...sink];
  const front = making.context === 'none' ? sink : wholeIds;
  const wanted = { part: 'header', front: [], neighbour: [], tokenIds: wholeIds, memoryIds: [], evict: null };
  const asWhole = { ...wanted, repaired: false, header: null };
  const whole = await gatherBlock(context, userId, asWhole, () => session.clear());
  const cells = cutContext(whole.state, headerIds.length, making, context.kv);
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
  for (const [index, line] of lines.entries()) {
    const previous = making.context === 'previous' ? lines[index - 1] : undefined;
    const repaired = evicting?.repaired?.has(index) === true;
    const block = { ...lineBlock(line, previous, front), evict, repaired, header: cells.header };
    const gathered = await gatherBlock(context, userId, block, beginBlock);
    blocks.push(gathered);
    if (gathered.origin !== 'computed') continue;
    if (isInSession(gathered)) holdsFront = true;
    builtTokens += block.neighbour.length + block.tokenIds.length;
  }
  const computeMs = [whole, ...blocks].reduce((sum, block) => sum + block.computeMs, 0);
  const chargedMs = [whole, ...blocks].reduce((sum, block) => sum + block.chargedMs, 0);
  const findMs = performance.now() - begin - (computeMs - chargedMs);
  const header = { ...whole, state: cells.header };
  const selector = totalSelector(blocks);
  return { header, sink: cells.sink, blocks, builtTokens, selector, findMs, computeMs, chargedMs };
}

function totalSelector(blocks: readonly GatheredBlock[]): Selector | null {
  const selectors = blocks.flatMap(({ selector }) => selector ?? []);
  const [first] = selectors;
  if (first === undefined) return null;
  const total = (count: 'tokens' | 'ms') => selectors.reduce((sum, selector) => sum + selector[count], 0);
  return { ...first, tokens: total('tokens'), ms: total('ms') };
}

/** True if the session holds the block and what it attends to, because it has just been computed there. */
function isInSession({ origin, chargedMs }: GatheredBlock): boolean {
  return origin === 'computed' && chargedMs === 0;
}

/** @param previous the line before it, if the block attends to that */
function lineBlock(line: MemoryLine, previous: MemoryLine | undefined, front: readonly TokenId[]) {
  const { memoryId, tokenIds } = line;
  const neighbour = previous?.tokenIds ?? [];
  const memoryIds = previous === undefined ? [memoryId] : [memoryId, previous.memoryId];
  return { part: `block behind ${front.length + neighbour.length}`, front, neighbour, tokenIds, memoryIds };
}

/**
 * Finds or computes a block. A block with evicted tokens is stored beside the whole one if that may come back later.
 * @param beginSession makes the session hold exactly the `front` tokens
 */
async function gatherBlock(
  context: BlockContext,
  userId: string,
  wanted: WantedBlock,
  beginSession: () => Promise<void>,
): Promise<GatheredBlock> {
  const { session, store, computeBlock = computeAlone, signal } = context;
  const { front, neighbour, tokenIds, memoryIds } = wanted;
  const start = front.length + neighbour.length;
  const ids = [...front, ...neighbour, ...tokenIds];
  const evict = wanted.repaired ? null : wanted.evict;
  const key = blockKey(context, wanted, evict);
  const found = await store.find(userId, key);
  if (found !== undefined) {
    const { state, tier } = found;
    if (holdsTokens(state, start, tokenIds, evict))
      return { key, start, state, origin: tier, computeMs: 0, chargedMs: 0, selector: null };
    await store.reject(userId, key);
  }
  const begin = performance.now();
  const compute = async (): Promise<SequenceState> => {
    await beginSession();
    await session.evaluate([...neighbour, ...tokenIds], { signal });
    requireTokens(session.tokens, ids);
    const cells = await session.exportCells({ start, end: ids.length });
    requireTokens(cells.tokenIds, tokenIds);
    return cells;
  };
  const wholeKey = evict === null ? key : blockKey(context, wanted, null);
  const computed = await computeExactly(() => computeBlock(userId, wholeKey, compute), store);
  using block = computed.state;
  const about = { userId, tokens: tokenIds.length, memoryIds };
  const { state, selector } = await keepBlock(context, wanted, block, (keyAs, cells) =>
    store.keep({ ...about, key: keyAs }, cells),
  );
  const { chargedMs } = computed;
  const computeMs = performance.now() - begin + chargedMs;
  return { key, start, state, origin: 'computed', computeMs, chargedMs, selector };
}

/** Stores a computed block: whole, with evicted tokens, or both. @returns the stored cells that the turn wants */
async function keepBlock(
  context: BlockContext,
  wanted: WantedBlock,
  block: SequenceState,
  keep: (key: string, cells: SequenceState) => SequenceState,
): Promise<Pick<GatheredBlock, 'state' | 'selector'>> {
  const { evict, repaired, header } = wanted;
  const keepWhole = () => keep(blockKey(context, wanted, null), block);
  if (evict === null || header === null) return { state: keepWhole(), selector: null };
  const whole = context.evicting?.repaired === undefined ? null : keepWhole();
  const { cells, selector } = await evictTokens(context, evict, { header, memories: block }, context.evicting?.rest);
  using left = cells;
  const evicted = keep(blockKey(context, wanted, evict), left);
  return { state: repaired && whole !== null ? whole : evicted, selector };
}

function blockKey(
  { engine, kv, template, keptAs }: BlockContext,
  { part, front, neighbour, tokenIds }: WantedBlock,
  evict: Eviction | null,
): string {
  const form = keptAs === 'f16' ? template : `${template}/${keptAs}`;
  return kv.key({
    stateIdentity: engine.info.stateIdentity ?? '',
    template: `${form}/${part}${evict === null ? '' : `/evict-${evictionName(evict)}`}`,
    tokenIds: [...front, ...neighbour, ...tokenIds],
  });
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
