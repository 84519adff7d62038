import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { kvTools } from '../../../kv/kv-tools.ts';
import { KvStore } from '../../../kv/kv-store.ts';
import type { StoreType } from '../../../store/records/prefill-record.ts';
import { commonLength } from '../../../systems/prefill/text-prefill.ts';
import { type BlockContext, gatherBlocks, type GatheredBlocks } from '../../../systems/prefill/gather-blocks.ts';
import { placeBlocks } from '../../../systems/prefill/place-blocks.ts';
import { cutPrefix, exportPrefix, joinPrefix, type PrefixCut } from '../../../systems/prefill/scale-prefix.ts';
import { partsOf, type StoredInjection, type StoredSequence } from './stored-sequence.ts';

/** Bound of the KV that a replay keeps: that of a run. */
const STORE_BYTES = 256 * 2 ** 20;

/** Brings a session to where the answer of a stored turn began, with all memories or without one of them. */
export interface TurnReplay extends AsyncDisposable {
  /** The way in which a memory is left out: as a block of KV, or as text that is evaluated without it. */
  readonly method: 'text' | 'blocks';
  /** @returns the tokens that are still to be evaluated @throws BenchError `not-reproduced` */
  begin(leftOut?: string): Promise<readonly TokenId[]>;
}

const nothingToClose = { [Symbol.asyncDispose]: () => Promise.resolve() };

/**
 * Opens the replay that is true to how a turn was given its memories. Blocks did not see each other, so that one is left out
 * by not joining it. In a contiguous prefix every cell depends on what precedes it, and without a memory it is another text,
 * which is evaluated again from there on. Values that were
 * scaled are scaled again, and tokens that were evicted are evicted again.
 */
export async function openReplay(turn: StoredSequence, engine: Engine, session: EngineSession): Promise<TurnReplay> {
  const { injection } = turn;
  if (injection === null) return textReplay(turn, engine, session);
  if (injection.prefill !== 'prefix') return blocksReplay(turn, injection, engine, session);
  return injection.alpha === 1 && injection.evict === null && injection.keptAs === 'f16'
    ? textReplay(turn, engine, session)
    : changedReplay(turn, injection, engine, session);
}

/** Keeps what the session begins with already; it must hold nothing but evaluated text. */
function textReplay(turn: StoredSequence, { capabilities }: Engine, session: EngineSession): TurnReplay {
  return {
    ...nothingToClose,
    method: 'text',
    begin: async (leftOut) => {
      const { header, lines, suffix } = partsOf(turn, leftOut);
      const ids = [...header, ...lines.flatMap(({ tokenIds }) => tokenIds), ...suffix];
      const kept = Math.min(commonLength(session.tokens, ids), ids.length - capabilities.leastTokens);
      await session.truncate(kept);
      return ids.slice(kept);
    },
  };
}

/** Of a prefix whose values are scaled, whose tokens are evicted or whose numbers were quantised. */
function changedReplay(
  turn: StoredSequence,
  { alpha, evict, keptAs }: StoredInjection,
  engine: Engine,
  session: EngineSession,
): TurnReplay {
  return {
    ...nothingToClose,
    method: 'text',
    begin: async (leftOut) => {
      const { header, lines, suffix } = partsOf(turn, leftOut);
      await session.clear();
      await session.evaluate([...header, ...lines.flatMap(({ tokenIds }) => tokenIds)]);
      if (lines.length > 0) {
        const whole = await exportPrefix(session, header.length);
        const left = evict === null ? whole : { ...whole, memories: kvTools.evict(whole.memories, evict) };
        using scaled = joinPrefix(restored(left, keptAs, engine), alpha, engine);
        await session.importCells(scaled);
      }
      return suffix;
    },
  };
}

/**
 * Every block is computed once, the first time; then no memory is evaluated again, but for recomputed tokens, and for blocks
 * that saw the memory which is left out.
 */
async function blocksReplay(
  turn: StoredSequence,
  { prefill, alpha, evict, keptAs, positions }: Extract<StoredInjection, { readonly positions: unknown }>,
  engine: Engine,
  session: EngineSession,
): Promise<TurnReplay> {
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-attribution-'));
  const store = kvTools.openBlocks(
    await KvStore.open(folder, STORE_BYTES, engine),
    STORE_BYTES,
    'when-evicted',
    keptAs,
  );
  const context: BlockContext = { engine, session, store, kv: kvTools, evict, keptAs, template: 'attribution' };
  const all = partsOf(turn);
  let known: GatheredBlocks | undefined;
  return {
    method: 'blocks',
    begin: async (leftOut) => {
      const asked = partsOf(turn, leftOut);
      const isKnown = known !== undefined && prefill.context !== 'previous';
      const lines = prefill.context === 'previous' ? asked.lines : all.lines;
      if (!isKnown) known = await gatherBlocks(context, turn.userId, { ...all, lines }, prefill);
      const { header, sink, blocks } = known!;
      const kept = blocks
        .map(({ state, start }, index) => ({ state, start, memoryId: lines[index]!.memoryId }))
        .filter(({ memoryId }) => memoryId !== leftOut)
        .map(({ state, start, memoryId }) => ({ state, start, rank: turn.ranked.indexOf(memoryId) }));
      const unplaced = { header: header.state, sink, blocks: kept };
      using placed = await placeBlocks(prefill, context, unplaced, { alpha, rest: asked });
      if (leftOut === undefined && placed.positions.join() !== positions.join()) throw otherPositions();
      await session.importCells(placed.state);
      return asked.suffix;
    },
    [Symbol.asyncDispose]: async () => {
      store[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A prefix as it comes out of the type in which it was kept. */
function restored(prefix: PrefixCut, keptAs: StoreType, engine: Engine): PrefixCut {
  if (keptAs === 'f16') return prefix;
  using cells = joinPrefix(prefix, 1, engine);
  return cutPrefix(kvTools.restore(kvTools.quantise(cells, keptAs)), prefix.header.positions.length);
}

function otherPositions(): BenchError {
  return new BenchError(
    'not-reproduced',
    'the blocks of the turn come out at other positions than are stored',
    'it was written by another release; run the bench again with this one',
  );
}
